import Foundation
import TandemKit
import TestSupport
import Testing

/// The example programs in `Examples`, run as a user runs them.
@Suite struct ExampleTests {
    private func trim(_ arguments: String...) throws -> ProgramResult {
        try program(TestPaths.builtProgram("trim"), arguments)
    }

    @Test func trimmer_copiesTheSectionExactly() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.movie(in: scratch)
        let output = scratch.file("part.mp4")
        let result = try trim(input.path, output, "0.5", "0:01.5")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.hasPrefix("\(output): 1 s, "))
        #expect(result.errors.contains("%"))
        let frames = try FFmpegFile(output).frames()
        // The section begins within a frame, which is the first one.
        #expect(frames.times.count == 26 && frames.times.first == 0 && frames.times[1] == 0.02)
    }

    @Test func trimmer_rejectsWrongArguments() throws {
        let scratch = try Scratch()
        let output = scratch.file("part.mp4")
        for (arguments, message) in [
            (["a.mp4"], "usage: trim INPUT OUTPUT START END [PRESET]"),
            (["a.mp4", output, "2", "1"], "the start must be before the end"),
            (["a.mp4", output, "0", "1:2:3:4"], "`1:2:3:4` is not a time"),
            (["a.mp4", output, "0", "nan"], "`nan` is not a time"),
            (["a.mp4", output, "0", "1", "huge"], "unknown preset `huge`; expected one of "),
        ] {
            let result = try program(TestPaths.builtProgram("trim"), arguments)
            #expect(result.status == 64 && result.errors.contains(message), "\(result.errors)")
        }
        let missing = try trim(scratch.file("none.mp4"), output, "0", "1")
        #expect(missing.status == 1 && missing.errors.contains("none.mp4"), "\(missing.errors)")
        #expect(!FileManager.default.fileExists(atPath: output))
    }

    @Test func interruptedTrimmer_leavesNoFile() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.endlessMovie(in: scratch)
        let output = scratch.file("out/part.mp4")
        try FileManager.default.createDirectory(
            atPath: scratch.file("out"), withIntermediateDirectories: false)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: TestPaths.builtProgram("trim"))
        process.arguments = [input.path, output, "0", "1:00:00", "640x480"]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        // Interrupted once it reports progress.
        var text = ""
        while !text.contains("%"), case let data = errors.fileHandleForReading.availableData, !data.isEmpty {
            text += String(decoding: data, as: UTF8.self)
        }
        process.interrupt()
        text += String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 130)
        #expect(text.contains("trim: cancelled; no file was written"), "\(text)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")) == [])
    }
}
