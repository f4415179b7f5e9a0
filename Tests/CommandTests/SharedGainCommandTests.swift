internal import Foundation
internal import TestSupport
internal import Testing

/// Tests jobs whose files share a gain: reruns, added files, parts of a plan, and files that can't be read.
@Suite struct SharedGainCommandTests {
    private func add(_ name: String, _ decibels: Int, in scratch: Scratch) throws {
        try ffmpeg(
            "-f", "lavfi", "-i", "sine=997:d=2:r=48000,volume=\(decibels)dB", scratch.file("in/\(name).wav"))
    }

    /// Creates two files of different loudness and a job for them.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.file("in"), withIntermediateDirectories: true)
        try add("a", 0, in: scratch)
        try add("b", -6, in: scratch)
        try scratch.write(
            """
            version: 1
            jobs:
              album:
                asset: ./in/*.wav
                tracks: [ { audio: first, encode: { codec: flac, normalize: { integrated: -23, group: job } } } ]
                destination: out/${asset.stem}.flac

            """, to: "jobs.yaml")
        return scratch
    }

    /// A file that is added changes the gain of all files.
    @Test func addedFile_changesTheGainOfAll() throws {
        let scratch = try folder()
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 0 && first.errors.hasSuffix("2 of 2 jobs done\n"), "\(first.errors)")
        #expect(
            try tandem("run", "jobs.yaml", in: scratch).errors
                == "2 of 2 jobs done, 2 of them up to date\n")
        try add("c", 6, in: scratch)
        #expect(
            try tandem("explain", "jobs.yaml", "album[a.wav]", in: scratch).text == """
                album[a.wav]: will run
                  track 0 normalize: -23.0 LUFS, -1.0 dBTP; gain 0.11 dB for 2 files of -23.11 LUFS → -23.0 LUFS, -1.0 dBTP; gain -4.35 dB for 3 files of -18.66 LUFS

                """)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.hasSuffix("3 of 3 jobs done\n"))
    }

    /// Parts of a plan, each of which has one of the files, create the outputs of a whole run.
    @Test func parts_haveTheGainOfThePlan() throws {
        let scratch = try folder()
        #expect(
            try tandem("plan", "--shards", "2", "--out", "plan", "jobs.yaml", in: scratch).status == 0)
        for part in ["0", "1"] {
            let run = try tandem("run", "--plan", "plan", "--shard", part, in: scratch)
            #expect(run.status == 0 && run.errors.hasSuffix("1 of 1 jobs done\n"), "\(run.errors)")
        }
        let parts = try ["a", "b"].map { try Data(contentsOf: URL(filePath: scratch.file("out/\($0).flac"))) }
        #expect(try tandem("run", "--force", "jobs.yaml", in: scratch).status == 0)
        let whole = try ["a", "b"].map { try Data(contentsOf: URL(filePath: scratch.file("out/\($0).flac"))) }
        #expect(parts == whole)
    }

    /// A file that can't be read is an error of all jobs, because it would change their gain.
    @Test func unreadableFile_failsTheGroup() throws {
        let scratch = try folder()
        try scratch.write("no audio", to: "in/c.wav")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && scratch.contents.allSatisfy { !$0.hasSuffix(".flac") }, "\(run.errors)")
        #expect(
            run.errors.contains(
                "the loudness of the group can't be measured: `album[c.wav]` can't be planned"),
            "\(run.errors)")
    }
}
