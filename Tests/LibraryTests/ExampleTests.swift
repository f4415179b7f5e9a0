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
        #expect(result.errors.hasSuffix("\r100 %\r"), "\(result.errors)")
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

    /// Interrupts at the first report of progress, and at arbitrary times before it.
    @Test func interruptedTrimmer_leavesNoFile() async throws {
        let scratch = try Scratch()
        let input = try await ArticleTests.endlessMovie(in: scratch)
        for attempt in 0..<10 {
            let result = try await interruptedTrim(of: input, in: scratch)
            #expect(result.status == 130, "\(attempt): \(result.errors)")
            #expect(result.errors.contains("trim: cancelled; no file was written"), "\(result.errors)")
            #expect(scratch.contents == ["long.mp4", "out"])
        }
        for attempt in 0..<10 {
            let result = try await interruptedTrim(of: input, in: scratch, after: .milliseconds(attempt * 8))
            // The signal's default action, until the program handles it.
            let isEnded = result.reason == .uncaughtSignal && result.status == SIGINT
            #expect(isEnded || result.status == 130, "\(attempt): \(result.status) \(result.errors)")
            #expect(scratch.contents == ["long.mp4", "out"])
        }
    }

    /// Runs the program for an hour's export, and interrupts it after a duration, or once it reports progress.
    private func interruptedTrim(
        of input: URL, in scratch: Scratch, after duration: Duration? = nil
    ) async throws -> (reason: Process.TerminationReason, status: Int32, errors: String) {
        try FileManager.default.createDirectory(
            atPath: scratch.file("out"), withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: TestPaths.builtProgram("trim"))
        process.arguments = [input.path, scratch.file("out/part.mp4"), "0", "1:00:00", "640x480"]
        let errors = Pipe()
        process.standardError = errors
        // A shell starts background commands, perhaps these tests, with SIGINT ignored, which programs inherit.
        signal(SIGINT, SIG_DFL)
        try process.run()
        var text = ""
        if let duration {
            try await Task.sleep(for: duration)
        } else {
            while !text.contains("%"), case let data = errors.fileHandleForReading.availableData,
                !data.isEmpty
            {
                text += String(decoding: data, as: UTF8.self)
            }
        }
        process.interrupt()
        text += String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationReason, process.terminationStatus, text)
    }
}
