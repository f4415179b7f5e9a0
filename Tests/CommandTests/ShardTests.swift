import Foundation
import TestSupport
import Testing

/// Tests plans in parts, which several machines run on a shared folder.
@Suite struct ShardTests {
    private func tandem(
        _ arguments: [String], in scratch: Scratch, environment: [String: String] = [:]
    ) throws -> ProgramResult {
        try program(TestPaths.tandem, arguments, directory: scratch.path, environment: environment)
    }

    /// Creates nine sources, each with a job and a second job that reads its output, and a plan in four parts.
    private func batch() throws -> Scratch {
        let scratch = try Scratch()
        for n in 1...9 {
            try ffmpeg("-f", "lavfi", "-i", "sine=f=\(200 * n):d=\(n)", scratch.file("s\(n).wav"))
        }
        try scratch.write(
            """
            version: 1
            assets: { all: { path: "*.wav" } }
            jobs:
              pack: { asset: all, tracks: [ { audio: first, encode: { codec: flac } } ], destination: "out/${asset.stem}.flac" }
              copy: { asset: { job: pack }, tracks: [ { audio: first, copy: true } ], destination: "out/${asset.stem}.mka", container: mkv }
            """, to: "jobs.yaml")
        #expect(
            try tandem(["plan", "--shards", "4", "--out", "parts", "jobs.yaml"], in: scratch).status == 0)
        return scratch
    }

    private func jobs(ofPart index: Int, in scratch: Scratch) throws -> [String] {
        let data = try Data(contentsOf: URL(fileURLWithPath: scratch.file("parts/shard-\(index).json")))
        let file = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let jobs = ((file["plan"] as? [String: Any])?["jobs"] as? [[String: Any]]) ?? []
        return jobs.compactMap { $0["id"] as? String }
    }

    /// Outputs that are up to date cost nothing, so that the other jobs are shared out equally.
    @Test func outputsThatAreUpToDateDontCount() throws {
        let scratch = try Scratch()
        func job(_ id: String, _ seconds: Int) -> String {
            "  \(id): { asset: { pattern: smpte, size: 16x16, frame_rate: 1, duration: \(seconds)s, tone: 1kHz }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(id).flac }\n"
        }
        try scratch.write(
            "version: 1\njobs:\n" + job("long", 300) + job("b", 20) + job("c", 20), to: "jobs.yaml")
        #expect(try tandem(["run", "--only", "long", "jobs.yaml"], in: scratch).status == 0)
        #expect(
            try tandem(["plan", "--shards", "2", "--out", "parts", "jobs.yaml"], in: scratch).status == 0)
        let parts = try (0..<2).map { Set(try jobs(ofPart: $0, in: scratch)) }
        #expect(parts[0].symmetricDifference(parts[1]) == ["long", "b", "c"])
        #expect(parts.allSatisfy { $0.contains("b") != $0.contains("c") }, "\(parts)")
        // They are in the results nevertheless.
        for part in 0..<2 {
            let run = try tandem(["run", "--plan", "parts", "--shard", "\(part)"], in: scratch)
            let isUpToDate = run.errors.contains("2 of 2 jobs done, 1 of them up to date")
            #expect(run.status == 0 && isUpToDate == parts[part].contains("long"), "\(run.errors)")
        }
        #expect(try tandem(["collect", "parts"], in: scratch).errors == "3 of 3 jobs done\n")
    }

    /// A part knows neither checks that a source passed nor outputs that were declined, so they count in full.
    @Test func onlyPublishedOutputsAreUpToDateInParts() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            """
            version: 1
            jobs:
              passed: { asset: ./a.mp4, check: {} }
              declined: { asset: ./a.mp4, publish_if: { smaller_by: 99% }, tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: d.mkv }
              made: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264 } } ], destination: m.mkv }
            """, to: "jobs.yaml")
        #expect(try tandem(["run", "jobs.yaml"], in: scratch).status == 0)
        let whole = try tandem(["plan", "jobs.yaml"], in: scratch).text
        #expect(!whole.contains("will run"), "\(whole)")
        let parts = try tandem(["plan", "--shards", "2", "--out", "parts", "jobs.yaml"], in: scratch).text
        #expect(parts.components(separatedBy: "will run").count == 3, "\(parts)")
    }

    @Test func shardsAreBalancedAndContainTheJobsTheyRead() throws {
        let scratch = try batch()
        var all: [String] = []
        for index in 0..<4 {
            let ids = try jobs(ofPart: index, in: scratch)
            // A job is in the same part as the job that it reads.
            for id in ids where id.hasPrefix("copy") { #expect(ids.contains("pack" + id.dropFirst(4))) }
            #expect((4...6).contains(ids.count), "\(ids)")
            all += ids
        }
        #expect(Set(all).count == 18 && all.count == 18)
        let repeated = try tandem(["plan", "--shards", "4", "--out", "parts", "jobs.yaml"], in: scratch)
        #expect(
            repeated.status == 4 && repeated.errors.contains("parts of a plan are written to a new folder"))
    }

    /// An unreadable source fails only its job: the parts contain the other jobs, and `collect` reports it as failed.
    @Test func unreadableSourcesAreCollectedAsFailed() throws {
        let scratch = try Scratch()
        for n in 1...3 { try ffmpeg("-f", "lavfi", "-i", "sine=f=\(200 * n):d=1", scratch.file("s\(n).wav")) }
        try scratch.write("no audio at all", to: "s2.wav")
        try scratch.write(
            """
            version: 1
            jobs:
              pack: { asset: "./s*.wav", tracks: [ { audio: first, encode: { codec: flac } } ], destination: "out/${asset.stem}.flac" }
              bad: { asset: ./s2.wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: out/bad.flac }
              after: { asset: ./s1.wav, needs: bad, tracks: [ { audio: first, copy: true } ], destination: out/after.wav }
              later: { asset: ./s1.wav, needs: after, tracks: [ { audio: first, copy: true } ], destination: out/later.wav }
              none: { asset: "./x*.wav", tracks: [ { audio: first, copy: true } ], destination: "out/x-${asset.stem}.wav" }
            """, to: "jobs.yaml")
        let planned = try tandem(["plan", "--shards", "2", "--out", "parts", "jobs.yaml"], in: scratch)
        #expect(
            planned.status == 3 && planned.errors.contains("5 jobs with errors"),
            "\(planned.errors)")
        for shard in ["0", "1"] {
            let run = try tandem(["run", "--plan", "parts", "--shard", shard], in: scratch)
            #expect(run.status == 0, "\(run.errors)")
        }
        let collected = try tandem(["collect", "parts"], in: scratch)
        #expect(collected.status == 1 && collected.errors.contains("2 of 7 jobs done"), "\(collected.errors)")
        let lines = collected.text.split(separator: "\n")
        #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("failed  ") }, "\(collected.text)")
        for name in ["pack[s2.wav]", "bad", "after", "later", "none"] {
            #expect(lines.contains { $0.hasPrefix("failed  \(name) of ") }, "\(name): \(collected.text)")
        }
        // A collision of destinations prevents the whole plan.
        try scratch.write(
            """
            version: 1
            jobs:
              a: { asset: ./s1.wav, tracks: [ { audio: first, copy: true } ], destination: out/y.wav }
              b: { asset: ./s3.wav, tracks: [ { audio: first, copy: true } ], destination: out/y.wav }
            """, to: "other.yaml")
        let refused = try tandem(["plan", "--shards", "2", "--out", "others", "other.yaml"], in: scratch)
        #expect(refused.status == 3 && !FileManager.default.fileExists(atPath: scratch.file("others")))
    }

    /// An expectation that contradicts the plan is an error of `plan`. `run` fails that job and runs the others.
    @Test func impossibleExpectationsFailTheirJobs() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("a.wav"))
        try scratch.write(
            """
            version: 1
            jobs:
              long: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: flac } } ], expect: { audio: { codec: mp3 } }, destination: long.flac }
              good: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: good.flac }
            """, to: "jobs.yaml")
        let planned = try tandem(["plan", "jobs.yaml"], in: scratch)
        #expect(planned.status == 3 && planned.errors.contains("expectation-impossible"), "\(planned.errors)")
        let run = try tandem(["run", "jobs.yaml"], in: scratch)
        #expect(run.status == 1 && run.errors.contains("expectation-impossible"), "\(run.errors)")
        #expect(FileManager.default.fileExists(atPath: scratch.file("good.flac")))
        #expect(!FileManager.default.fileExists(atPath: scratch.file("long.flac")))
    }

    @Test func shardsRunInAnyFolderAndAreCollected() throws {
        let scratch = try batch()
        func collect() throws -> (status: Int32, missing: Int) {
            let result = try tandem(["collect", "parts"], in: scratch)
            return (result.status, result.text.split(separator: "\n").count)
        }
        #expect(try collect() == (1, 18))
        let parts = scratch.file("parts")
        for index in 0..<3 {
            let result = try program(
                TestPaths.tandem, ["run", "--plan", parts], directory: "/",
                environment: [index == 1 ? "SLURM_ARRAY_TASK_ID" : "JOB_COMPLETION_INDEX": "\(index)"])
            #expect(result.status == 0, "\(result.errors)")
        }
        let (status, missing) = try collect()
        #expect(status == 1 && (4...6).contains(missing))
        #expect(try tandem(["run", "--plan", parts, "--shard", "3"], in: scratch).status == 0)
        #expect(try collect() == (0, 0))
        #expect(!scratch.contents.contains { $0.hasPrefix(".tandem") || $0.hasSuffix("sqlite") })
        // A removed output counts as missing, although its result exists; running its part again creates it.
        try FileManager.default.removeItem(atPath: scratch.file("out/s1.flac"))
        #expect(try collect() == (1, 1))
        for index in 0..<4 {
            #expect(try tandem(["run", "--plan", parts, "--shard", "\(index)"], in: scratch).status == 0)
        }
        #expect(try collect() == (0, 0))
        // Results with impossible values are ignored.
        for (name, change) in [("a", "\"slot\" : -5"), ("b", "\"slot\" : 9223372036854775807")] {
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("parts/results"))
            let text = try String(contentsOfFile: scratch.file("parts/results/\(names[0])"), encoding: .utf8)
            try scratch.write(
                text.replacingOccurrences(of: "\"slot\" : 0", with: change), to: "parts/results/\(name).json")
        }
        try scratch.write("{", to: "parts/results/c.json")
        // A FIFO is ignored and doesn't block.
        #expect(mkfifo(scratch.file("parts/results/d.json"), 0o600) == 0)
        #expect(try tandem(["collect", "parts", "--report", "r.html"], in: scratch).status == 0)
        // With a root, results and outputs outside of it don't count.
        #expect(try tandem(["collect", "--root", ".", "parts"], in: scratch).status == 0)
        #expect(try tandem(["collect", "--root", "parts", "parts"], in: scratch).status == 1)
        let outside = try tandem(["collect", "--root", "out", "parts"], in: scratch)
        #expect(outside.status == 3 && outside.errors.contains("is not a plan in parts"), "\(outside.errors)")
        // A part whose source changed is rejected.
        try ffmpeg("-f", "lavfi", "-i", "sine=d=12", scratch.file("s1.wav"))
        let results = try (0..<4).map {
            try tandem(["run", "--plan", parts, "--shard", "\($0)"], in: scratch)
        }
        #expect(results.count { $0.status == 3 && $0.errors.contains("changed") } == 1)
        #expect(
            try tandem(["run", "--plan", parts, "--shard", "4"], in: scratch).errors.contains("has no part 4")
        )
        #expect(try tandem(["run", "--plan", parts], in: scratch).status == 64)
    }

    /// The latest run decides about a job without output. Times of jobs are relative to their run.
    /// A run that is cancelled before a job starts states nothing about the job.
    @Test(arguments: [("failed", false), ("failed", true), ("cancelled", true), ("not-run", true)])
    func latestResultOfACheckCounts(_ outcome: String, isLater: Bool) throws {
        let isFailed = outcome == "failed" && isLater
        let scratch = try Scratch()
        try scratch.write(
            "version: 1\njobs: { a: { asset: { pattern: smpte, size: 64x64, duration: 1s }, check: true } }\n",
            to: "jobs.yaml")
        #expect(
            try tandem(["plan", "--shards", "1", "--out", "parts", "jobs.yaml"], in: scratch).status == 0)
        #expect(try tandem(["run", "--plan", "parts", "--shard", "0"], in: scratch).status == 0)
        let name = try #require(scratch.contents.first { $0.hasPrefix("parts/results/") })
        func object(_ path: String) throws -> [String: Any] {
            let data = try Data(contentsOf: URL(filePath: scratch.file(path)))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
        var report = try object(name)
        let begun = try #require(report["begun"] as? Double)
        var jobs = try #require(report["jobs"] as? [[String: Any]])
        report["begun"] = begun + (isLater ? 1000 : -1000)
        // The failed job began later in its run than the successful one did.
        (jobs[0]["outcome"], jobs[0]["begun"], jobs[0]["reason"]) = (outcome, isLater ? 0.0 : 20.0, "other")
        report["jobs"] = jobs
        try JSONSerialization.data(withJSONObject: report).write(
            to: URL(filePath: scratch.file("parts/results/0-other.json")))
        let collected = try tandem(["collect", "parts", "--report", "r.json"], in: scratch)
        #expect(collected.status == (isFailed ? 1 : 0), "\(collected.errors)")
        let all = try object("r.json")
        let job = try #require((all["jobs"] as? [[String: Any]])?.first)
        #expect(job["outcome"] as? String == (isFailed ? "failed" : "succeeded"))
        let time = try #require(job["begun"] as? Double)
        #expect(all["begun"] as? Double == (isLater ? begun : begun - 1000))
        #expect((isFailed || !isLater ? 999..<1010 : 0..<10).contains(time))
    }

    /// The combined report contains the images of the parts' reports, for outputs that still exist.
    @Test func imagesOfShardReportsAreCollected() throws {
        let scratch = try folderWithSource()
        try write(["a", "b", "c"].map { job($0, asset: "./a.mp4") }.joined(), in: scratch)
        #expect(
            try tandem(["plan", "--shards", "3", "--out", "parts", "jobs.yaml"], in: scratch).status == 0)
        for index in 0..<3 {
            let run = try tandem(
                ["run", "--plan", "parts", "--shard", "\(index)", "--report", "\(index).html"], in: scratch)
            #expect(run.status == 0, "\(run.errors)")
        }
        func frames() throws -> Int {
            _ = try tandem(["collect", "parts", "--report", "all.html"], in: scratch)
            return try String(contentsOfFile: scratch.file("all.html"), encoding: .utf8)
                .components(separatedBy: "<img ").count - 1
        }
        #expect(try frames() == 18)
        // A rerun without out-of-date outputs keeps the stored images.
        #expect(try tandem(["run", "--plan", "parts", "--shard", "0"], in: scratch).status == 0)
        #expect(try frames() == 18)
        try scratch.write("[{\"file\":1}]", to: "parts/results/0-x.json.previews")
        let first = try #require(scratch.contents.first { $0.hasPrefix("out/") })
        try FileManager.default.removeItem(atPath: scratch.file(first))
        #expect(try frames() == 12)
    }

    /// Concurrent runs of the same part publish each output once.
    @Test func concurrentRunsOfAShardPublishOnce() throws {
        let scratch = try batch()
        let rounds = TestPaths.isQuick ? 5 : 12
        let script = """
            for i in $(seq \(rounds)); do
                for k in 1 2 3 4 5; do "$0" run -q --plan parts --shard 0 2>>log || echo failed & done; wait
            done
            """
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.text == "", "\(result.text) \(log)")
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("parts/results"))
        let data = try names.map {
            try Data(contentsOf: URL(fileURLWithPath: scratch.file("parts/results/\($0)")))
        }
        var done: [String: Int] = [:]
        for one in data {
            let report = try JSONSerialization.jsonObject(with: one) as? [String: Any]
            for job in report?["jobs"] as? [[String: Any]] ?? [] {
                let (id, outcome) = (job["id"] as? String ?? "?", job["outcome"] as? String ?? "?")
                #expect(outcome == "succeeded" || outcome == "up-to-date")
                done[id, default: 0] += outcome == "succeeded" ? 1 : 0
            }
        }
        #expect(data.count == rounds * 5)
        // `copy` may run again, since another run may have replaced its source by an identical file; `pack` must run
        // once.
        for (id, count) in done where id.hasPrefix("pack") { #expect(count == 1, "\(id)") }
        #expect(!scratch.contents.contains { $0.hasSuffix(".part") })
    }
}
