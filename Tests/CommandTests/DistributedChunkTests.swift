import Foundation
import TestSupport
import Testing

/// A long track whose chunks the parts of a batch encode (`parallel: cluster`); `scripts/test-cluster` runs them on Slurm.
@Suite struct DistributedChunkTests {
    /// Writes a job of 1001 frames in five chunks, the last of which has one frame, with a filter that depends on earlier frames,
    /// and with audio.
    private func scratch(_ parallel: String = "cluster", _ more: String = "") throws -> Scratch {
        let scratch = try Scratch()
        try scratch.write(
            """
            version: 1
            assets: { clip: { pattern: testsrc, size: 160x120, frame_rate: 30000/1001, duration: 40s, tone: 440Hz } }
            jobs:
              film:
                asset: clip
                range: { start: 1.5s, end: 34.9s }
                tracks:
                  - { video: first, encode: { codec: h264, preset: veryfast, crf: 30, filters: "hqdn3d=3,vflip", parallel: \(parallel) } }
                  - { audio: first, encode: { codec: aac } }
                destination: film.mp4
            \(more)

            """, to: "jobs.yaml")
        return scratch
    }

    /// Writes the parts of a batch to the folder `batch` without starting them. Returns the number of those that encode chunks.
    private func writeParts(in scratch: Scratch) throws -> Int {
        let submitted = try tandem(
            "submit", "jobs.yaml", "--engine", "openjd", "--out", "batch", "--shards", "40", in: scratch)
        try #require(submitted.status == 0, "\(submitted.errors)")
        let manifest = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(filePath: scratch.file("batch/plan.json"))))
        let stages = try #require(manifest as? [String: Any])
        #expect(stages["joining_parts"] as? Int == 1)
        return try #require(stages["chunk_parts"] as? Int)
    }

    private func run(_ part: Int, in scratch: Scratch) throws -> ProgramResult {
        try tandem("run", "--plan", "batch", "--shard", "\(part)", in: scratch)
    }

    /// Returns the bytes of the output that one machine creates.
    private func whole() throws -> Data {
        let scratch = try scratch("4")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        try #require(result.status == 0, "\(result.errors)")
        return try Data(contentsOf: URL(filePath: scratch.file("film.mp4")))
    }

    @Test func outputIsThatOfOneMachine() throws {
        let scratch = try scratch()
        let parts = try writeParts(in: scratch)
        #expect(parts == 5)
        for part in 0..<parts {
            let result = try run(part, in: scratch)
            #expect(result.status == 0, "\(result.errors)")
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.file("batch/chunks")).sorted()
        #expect(files == (0..<5).map { "0-0-0-\($0)" })
        let joined = try run(parts, in: scratch)
        #expect(joined.status == 0 && !joined.errors.contains("encoded here"), "\(joined.errors)")
        #expect(try Data(contentsOf: URL(filePath: scratch.file("film.mp4"))) == whole())
        // Nothing reads the chunks any more.
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.file("batch/chunks")).isEmpty)
        let collected = try tandem("collect", "batch", in: scratch)
        #expect(collected.status == 0 && collected.errors == "1 of 1 jobs done\n", "\(collected.errors)")
        // Missing chunks of a finished job aren't encoded again.
        let again = try tandem("resubmit", "batch", "--detach", in: scratch)
        #expect(again.status == 0 && again.errors.hasPrefix("nothing to submit: "), "\(again.errors)")
    }

    /// Chunks that are missing, damaged or of another plan are encoded with the whole track, which a warning states.
    @Test func missingAndDamagedChunksAreEncoded() throws {
        let scratch = try scratch()
        let parts = try writeParts(in: scratch)
        for part in 0..<parts { #expect(try run(part, in: scratch).status == 0) }
        let again = try run(0, in: scratch)
        #expect(again.status == 0 && again.errors.contains("up to date"), "\(again.errors)")
        try FileManager.default.removeItem(atPath: scratch.file("batch/chunks/0-0-0-1"))
        let path = URL(filePath: scratch.file("batch/chunks/0-0-0-2"))
        var bytes = try Data(contentsOf: path)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: path)
        let status = try tandem("collect", "batch", in: scratch)
        #expect(status.status == 1 && status.errors.contains("0 of 1 jobs done"), "\(status.errors)")
        let joined = try run(parts, in: scratch)
        #expect(joined.status == 0, "\(joined.errors)")
        #expect(
            joined.errors.contains("2 of 5 chunks encoded here, because no other part has encoded them"),
            "\(joined.errors)")
        #expect(try Data(contentsOf: URL(filePath: scratch.file("film.mp4"))) == whole())
    }

    /// The failure of a part that encodes chunks is stated, and chunks that a late part has written are removed.
    @Test func failedAndLateChunksAreStated() throws {
        let scratch = try scratch()
        let parts = try writeParts(in: scratch)
        // The folder of the chunks can't be created.
        try scratch.write("", to: "batch/chunks")
        #expect(try run(1, in: scratch).status == 1)
        #expect(try run(parts, in: scratch).status == 0)
        let collected = try tandem("collect", "batch", in: scratch)
        #expect(
            collected.status == 0
                && collected.errors.hasPrefix("note: part 1, which encodes chunks, failed: "),
            "\(collected.errors)")
        try FileManager.default.removeItem(atPath: scratch.file("batch/chunks"))
        #expect(try run(1, in: scratch).status == 0)
        #expect(FileManager.default.fileExists(atPath: scratch.file("batch/chunks/0-0-0-1")))
        #expect(try tandem("collect", "batch", in: scratch).errors == "1 of 1 jobs done\n")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("batch/chunks/0-0-0-1")))
    }

    /// Chunks of an output that is up to date are not encoded, and a warning isn't repeated for an output from the cache.
    @Test func currentOutputsAreNotDistributed() throws {
        let scratch = try scratch()
        let parts = try writeParts(in: scratch)
        #expect(
            try tandem("run", "--plan", "batch", "--shard", "\(parts)", "--cache", "cache", in: scratch)
                .errors.contains("5 of 5 chunks encoded here"))
        try FileManager.default.removeItem(atPath: scratch.file("film.mp4"))
        let cached = try tandem("run", "jobs.yaml", "--cache", "cache", in: scratch)
        #expect(cached.status == 0 && cached.errors.contains("from the cache"), "\(cached.errors)")
        #expect(!cached.errors.contains("encoded here"), "\(cached.errors)")
        let again = try tandem(
            "submit", "jobs.yaml", "--engine", "openjd", "--out", "again", "--shards", "40", in: scratch)
        #expect(again.status == 0 && !again.errors.contains("note:"), "\(again.errors)")
        #expect(
            try !String(contentsOfFile: scratch.file("again/plan.json"), encoding: .utf8).contains(
                "chunk_parts"))
    }

    /// The processes of this machine run the parts in their order.
    @Test func localPartsAreOrdered() throws {
        let scratch = try scratch(
            "cluster",
            "  other: { asset: clip, tracks: [ { audio: first, encode: { codec: flac } } ], destination: other.mka }"
        )
        let result = try tandem(
            "submit", "jobs.yaml", "--engine", "local", "--out", "batch", "--shards", "40", "--concurrent",
            "2",
            in: scratch)
        #expect(result.status == 0 && result.errors.hasSuffix("2 of 2 jobs done\n"), "\(result.errors)")
        #expect(!result.errors.contains("note:"), "\(result.errors)")
        #expect(try Data(contentsOf: URL(filePath: scratch.file("film.mp4"))) == whole())
        let report = try String(contentsOfFile: scratch.file("batch/report.json"), encoding: .utf8)
        #expect(!report.contains("encoded here") && report.contains("\"succeeded\""))
    }

    /// Notes about tracks that one part encodes: with an engine whose parts have no order, and with little work.
    @Test func notesStateWhatIsNotDistributed() throws {
        let scratch = try scratch()
        let kubernetes = try tandem(
            "submit", "jobs.yaml", "--engine", "kubernetes", "--image", "i", "--claim", "c:\(scratch.path)",
            "--out",
            "pods", in: scratch)
        #expect(
            kubernetes.errors.contains(
                "note: one part encodes all chunks of film: the parts have no order with this engine\n"),
            "\(kubernetes.errors)")
        let short = try tandem("submit", "jobs.yaml", "--engine", "openjd", "--out", "one", in: scratch)
        #expect(
            short.errors.contains(
                "note: one part encodes all chunks of film: its estimated work is that of one part\n"),
            "\(short.errors)")
    }

    @Test(arguments: [
        ("quality: { ssim: 0.98 }", "`parallel: cluster` can't be combined with `quality`"),
        ("bitrate: 1M", "`parallel` can't be combined with `bitrate`"),
    ])
    func settingsOfTheWholeTrackAreErrors(_ rate: String, _ message: String) throws {
        let scratch = try Scratch()
        try scratch.write(
            """
            version: 1
            assets: { clip: { pattern: testsrc, size: 160x120, frame_rate: 25, duration: 1s } }
            jobs:
              film:
                asset: clip
                tracks: [ { video: first, encode: { codec: h264, \(rate), parallel: cluster } } ]
                destination: film.mp4

            """, to: "jobs.yaml")
        let result = try tandem("validate", "jobs.yaml", in: scratch)
        #expect(result.status == 3 && result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.contains("jobs.yaml:6:"), "\(result.errors)")
    }
}
