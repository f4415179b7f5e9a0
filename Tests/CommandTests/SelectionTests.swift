import Foundation
import TestSupport
import Testing

/// Selections with alternatives, on files with several audio tracks.
@Suite struct SelectionTests {
    /// Writes a job that copies the video and the selected audio of `a.mp4`.
    private func write(audio selection: String, in scratch: Scratch) throws {
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                tracks:
                  - { video: first, copy: true }
                  - { audio: \(selection), copy: true }
                destination: out/one.mp4
            """, to: "jobs.yaml")
    }

    /// The notes of the only output in a plan.
    private func notes(_ scratch: Scratch) throws -> [String] {
        let plan = try tandem("plan", "--format", "json", "jobs.yaml", in: scratch)
        let json = try JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any]
        let jobs = try #require((json?["plan"] as? [String: Any])?["jobs"] as? [[String: Any]])
        let outputs = try #require(jobs.first?["outputs"] as? [[String: Any]])
        return try #require(outputs.first?["notes"] as? [String])
    }

    /// The first entry that matches is used. Another entry that selects the same track causes no new run.
    @Test(.enabled(if: TestPaths.media != nil)) func selection_withAlternatives_copiesTheFirstThatMatches()
        throws
    {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        try FileManager.default.copyItem(
            atPath: media + "/nasa_13013.mp4", toPath: scratch.file("a.mp4"))
        try write(audio: "[ { language: fra }, 1, first ]", in: scratch)
        let note = "audio track 4 is selected by `1`, entry 2 of 3"
        #expect(try notes(scratch) == [note])
        let text = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(text.text.split(separator: "\n").contains { $0 == "  note       \(note)" }, "\(text.text)")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let output = FFmpegFile(scratch.file("out/one.mp4"))
        // The second audio track has 16 kHz, the first 8 kHz.
        #expect(try output.stream("a:0", "sample_rate")["sample_rate"] as? String == "16000")
        #expect(try output.decodeErrors() == "")

        try write(audio: "[ 1, first ]", in: scratch)
        #expect(try notes(scratch) == ["audio track 4 is selected by `1`, entry 1 of 2"])
        let again = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(again.text == "one: up to date\n", "\(again.text)")

        try write(audio: "[ { language: fra }, first ]", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try output.stream("a:0", "sample_rate")["sample_rate"] as? String == "8000")
    }

    @Test(.enabled(if: TestPaths.media != nil)) func selection_withoutAMatch_listsItsAlternatives() throws {
        let media = try #require(TestPaths.media)
        let scratch = try Scratch()
        try FileManager.default.copyItem(
            atPath: media + "/nasa_13013.mp4", toPath: scratch.file("a.mp4"))
        try write(audio: "[ { language: fra }, 2 ]", in: scratch)
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.status == 3)
        #expect(
            plan.errors == """
                jobs.yaml:7:18: error[no-such-track]: no audio track matches `language: fra` or `2`: the source has 2 (0: aac (eng), 1: aac (eng))
                 7 |       - { audio: [ { language: fra }, 2 ], copy: true }
                   |                  ^~~~~~~~~~~~~~~~~~~~~~~~
                  help: with `optional: true` the job runs without it
                1 error

                """)
    }
}
