import Diagnostics
import FileSystem
import Foundation
import JobPlan
import JobSpec
import TestSupport
import Testing

@Suite struct JobInputsTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    /// Returns the inputs of a job file in a new folder, with files of that names.
    private func inputs(_ jobs: String, files: String...) throws -> JobInputs {
        for name in files { try scratch.write("text", to: name) }
        let (file, sink) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        #expect(sink.diagnostics.isEmpty, "\(sink.diagnostics)")
        return JobInputs([try #require(file)], beneath: .anywhere)
    }

    /// Each job as text: its id, its files relative to the folder, those that are optional in brackets, and the jobs before it.
    private func lines(_ inputs: JobInputs) -> [String] {
        inputs.jobs.map { job in
            let files = job.files.map { file in
                let name = file.path.replacingOccurrences(of: scratch.path + "/", with: "")
                return file.isOptional ? "[\(name)]" : name
            }
            return ([job.key.id] + files + job.prerequisites.map { "< \($0.id)" }).joined(separator: " ")
        }
    }

    private let copy = "tracks: [ { audio: all, copy: true } ]"

    @Test func files_areThoseOfEachInstance() throws {
        let found = try inputs(
            """
              copy: { asset: "in/*.wav", \(copy), destination: "out/${asset.stem}.wav" }
              one: { asset: in/missing.wav, \(copy), destination: out/one.wav }
              tone: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(copy), destination: out/tone.mkv }
            """, files: "in/a.wav", "in/b.wav")
        #expect(
            lines(found) == ["copy[a.wav] in/a.wav", "copy[b.wav] in/b.wav", "one in/missing.wav", "tone"],
            "\(lines(found))")
        #expect(found.problems.isEmpty)
    }

    @Test func unmatchedPattern_isAJobWithoutInstances() throws {
        let found = try inputs(
            """
              copy: { asset: "in/*.wav", \(copy), destination: "out/${asset.stem}.wav" }
              after: { asset: in/b.wav, needs: copy, \(copy), destination: out/b.wav }
            """)
        #expect(lines(found) == ["after in/b.wav < copy"])
        #expect(found.problems.map(\.key.id) == ["copy"])
        #expect(found.problems.map(\.message) == ["the pattern `in/*.wav` matches no file"])
    }

    @Test func jobsBefore_areInstances() throws {
        let found = try inputs(
            """
              copy: { asset: "in/*.wav", \(copy), destination: "out/${asset.stem}.wav" }
              after: { asset: in/b.wav, needs: copy, \(copy), destination: out/b.wav }
              reads: { asset: { job: after }, \(copy), destination: out/c.wav }
            """, files: "in/a.wav", "in/b.wav")
        #expect(
            lines(found) == [
                "copy[a.wav] in/a.wav", "copy[b.wav] in/b.wav", "after in/b.wav < copy[a.wav] < copy[b.wav]",
                "reads < after",
            ], "\(lines(found))")
    }

    @Test func allFilesOfAJob_areListed() throws {
        let found = try inputs(
            """
              film:
                asset: film.mkv
                tracks:
                  - { video: first, encode: { codec: h264, burn: { asset: forced.srt, optional: true } } }
                  - { subtitle: { asset: film.srt }, copy: true }
                metadata: { cover: cover.png }
                destination: out/film.mkv
              joined: { composition: [ a.wav, b.wav ], tracks: [ { audio: first, encode: { codec: flac } } ], destination: out/j.flac }
              images:
                asset: { images: "frames/%03d.png", frame_rate: 25 }
                tracks: [ { video: first, encode: { codec: h264 } } ]
                destination: out/images.mp4
              none:
                asset: { images: "other/%03d.png", frame_rate: 25 }
                tracks: [ { video: first, encode: { codec: h264 } } ]
                destination: out/none.mp4
            """, files: "frames/001.png", "frames/003.png")
        #expect(
            lines(found) == [
                "film film.mkv cover.png [forced.srt] film.srt", "joined a.wav b.wav",
                // Also if a number is missing.
                "images frames/001.png frames/003.png", "none other/%03d.png",
            ], "\(lines(found))")
    }
}
