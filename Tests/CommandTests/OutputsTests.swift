import Foundation
import TestSupport
import Testing

/// The outputs of one job are created and published together, and are up to date individually.
@Suite struct OutputsTests {
    private static let lossless = "{ video: first, encode: { codec: ffv1 } }"

    /// Returns a job file with a job that has these outputs; `more` contains further keys of the job.
    func job(_ outputs: [(id: String, text: String)], more: String = "") -> String {
        let lines = outputs.map { "      \($0.id): { \($0.text) }\n" }.joined()
        return """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                destination: "out/${output}.mkv"
            \(more.isEmpty ? "" : "    \(more)\n")    outputs:
            \(lines)
            """
    }

    private func modified(_ scratch: Scratch, _ name: String) throws -> [Int64] {
        var status = stat()
        guard stat(scratch.file(name), &status) == 0 else { return [] }
        return [Int64(status.st_ino), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec)]
    }

    private func files(_ scratch: Scratch, in folder: String = "out") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: scratch.file(folder))) ?? []).sorted()
    }

    /// Each output has the same frames and samples as the output of a separate job.
    @Test func outputsEqualThoseOfSeparateJobs() throws {
        let scratch = try folderWithSource()
        let small = "{ video: first, encode: { codec: ffv1, size: 64x } }"
        let audio = "{ audio: first, encode: { codec: flac, gain: -6dB } }"
        try scratch.write(
            """
            version: 1
            defaults: { asset: ./a.mp4, range: { start: 0.2s, end: 0.7s } }
            jobs:
              all:
                destination: "all-${output}.mkv"
                outputs:
                  whole: { tracks: [ \(Self.lossless), \(audio) ] }
                  small: { tracks: [ \(small) ] }
                  audio: { tracks: [ \(audio) ], destination: all-audio.flac }
                  short: { tracks: [ \(Self.lossless) ], limit: { duration: 200ms } }
              whole: { tracks: [ \(Self.lossless), \(audio) ], destination: whole.mkv }
              small: { tracks: [ \(small) ], destination: small.mkv }
              audio: { tracks: [ \(audio) ], destination: audio.flac }
              short: { tracks: [ \(Self.lossless) ], limit: { duration: 200ms }, destination: short.mkv }
            """, to: "jobs.yaml")
        for isolation in ["worker", "none"] {
            let result = try tandem("run", "--force", "--isolation", isolation, "jobs.yaml", in: scratch)
            #expect(result.status == 0, "\(result.errors)")
            for name in ["whole", "small", "short"] {
                let (own, shared) = (
                    FFmpegFile(scratch.file("\(name).mkv")), FFmpegFile(scratch.file("all-\(name).mkv"))
                )
                let frames = try own.decodedFrames().map(\.hash)
                #expect(!frames.isEmpty)
                #expect(try shared.decodedFrames().map(\.hash) == frames, "\(name)")
                #expect(try shared.frames().times == own.frames().times, "\(name)")
            }
            let samples = try FFmpegFile(scratch.file("audio.flac")).samples(rate: 48_000)
            #expect(!samples.isEmpty)
            #expect(try FFmpegFile(scratch.file("all-audio.flac")).samples(rate: 48_000) == samples)
            #expect(try FFmpegFile(scratch.file("all-whole.mkv")).samples(rate: 48_000) == samples)
        }
    }

    /// A rerun creates only outputs whose settings changed or whose files are missing, and `explain` states the reason.
    @Test func onlyOutputsThatAreOutOfDateAreProduced() throws {
        let scratch = try folderWithSource()
        let text = { (quality: Int) in
            self.job([
                ("a", "tracks: [ \(Self.lossless) ]"),
                (
                    "b",
                    "tracks: [ { video: first, encode: { codec: h264, crf: \(quality), preset: ultrafast } } ]"
                ),
            ])
        }
        try scratch.write(text(20), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let before = (try modified(scratch, "out/a.mkv"), try modified(scratch, "out/b.mkv"))
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.errors.contains("1 of them up to date"), "\(rerun.errors)")
        #expect(try modified(scratch, "out/a.mkv") == before.0)

        try scratch.write(text(30), to: "jobs.yaml")
        let why = try tandem("explain", "jobs.yaml", "one", in: scratch)
        #expect(why.text.contains("one/a: up to date\n"), "\(why.text)")
        #expect(why.text.contains("one/b: will run\n") && why.text.contains("crf"), "\(why.text)")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.text.contains("1 up to date"), "\(plan.text)")
        let run = try tandem("run", "--report", "r.json", "jobs.yaml", in: scratch)
        #expect(run.status == 0 && !run.errors.contains("one/a") && run.errors.contains("done one/b"))
        #expect(try modified(scratch, "out/a.mkv") == before.0)
        #expect(try modified(scratch, "out/b.mkv") != before.1)
        // The report contains both outputs; the one that is up to date has its stored details.
        let report = try JSONSerialization.jsonObject(
            with: try Data(contentsOf: URL(filePath: scratch.file("r.json"))))
        let jobs = try #require((report as? [String: Any])?["jobs"] as? [[String: Any]])
        #expect(
            Set(jobs.map { "\($0["id"] ?? "") \($0["outcome"] ?? "")" }) == [
                "one/a up-to-date", "one/b succeeded",
            ])
        #expect(jobs.allSatisfy { $0["destination"] is String && $0["output"] is String })

        try FileManager.default.removeItem(atPath: scratch.file("out/a.mkv"))
        let third = try modified(scratch, "out/b.mkv")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try modified(scratch, "out/b.mkv") == third)
        #expect(files(scratch) == ["a.mkv", "b.mkv"])
    }

    /// If one output fails its expectations, none is published, existing files are unchanged, and no other files are
    /// left.
    @Test func failedExpectationsPreventPublishingOfAllOutputs() throws {
        let scratch = try folderWithSource()
        let text = { (size: String) in
            self.job([
                ("a", "tracks: [ \(Self.lossless) ], metadata: { set: { title: \(size) } }"),
                ("b", "tracks: [ \(Self.lossless) ], expect: { size: { max: \(size) } }"),
            ])
        }
        try scratch.write(text("10B"), to: "jobs.yaml")
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 5 && first.errors.contains("b: "), "\(first.errors)")
        #expect(files(scratch) == [])
        try scratch.write(text("90MB"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let before = (try modified(scratch, "out/a.mkv"), try modified(scratch, "out/b.mkv"))
        // The second output is reevaluated and fails; the first, which is out of date, isn't replaced.
        try scratch.write(text("20B"), to: "jobs.yaml")
        let kept = try tandem("run", "--keep-failed", "jobs.yaml", in: scratch)
        #expect(kept.status == 5, "\(kept.errors)")
        #expect(try modified(scratch, "out/a.mkv") == before.0 && modified(scratch, "out/b.mkv") == before.1)
        #expect(files(scratch) == ["a.mkv", "b.mkv"])
        // With `--force`, the failed output is kept under another name.
        let forced = try tandem("run", "--force", "--keep-failed", "jobs.yaml", in: scratch)
        #expect(forced.status == 5)
        #expect(files(scratch) == ["a.mkv", "b.failed.mkv", "b.mkv"])
        #expect(try modified(scratch, "out/a.mkv") == before.0 && modified(scratch, "out/b.mkv") == before.1)
    }

    /// A job that reads one output of another job is up to date as long as that output is unchanged.
    @Test func jobsReadOneOutputOfAnotherJob() throws {
        let scratch = try folderWithSource()
        let reader = """

              two:
                asset: { job: one, output: b }
                tracks: [ { video: first, copy: true } ]
                destination: "${asset.stem}-copy.mkv"
            """
        let text = job([
            ("a", "tracks: [ \(Self.lossless) ]"),
            ("b", "tracks: [ { video: first, encode: { codec: ffv1, size: 64x } } ]"),
        ])
        try scratch.write(text + reader, to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try FFmpegFile(scratch.file("b-copy.mkv")).stream("v:0", "width")["width"] as? Int == 64)
        // If only the other output is created again, the reader is up to date.
        try FileManager.default.removeItem(atPath: scratch.file("out/a.mkv"))
        let why = try tandem("explain", "jobs.yaml", "two", in: scratch)
        #expect(why.text.contains("two: up to date"), "\(why.text)")
        let before = try modified(scratch, "b-copy.mkv")
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.status == 0 && rerun.errors.contains("done one/a"), "\(rerun.errors)")
        #expect(try modified(scratch, "b-copy.mkv") == before)
    }

    /// Passes, loudness normalization and size limits apply to each output.
    @Test func passesLoudnessAndLimitsApplyToEachOutput() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            job(
                [
                    (
                        "a",
                        "tracks: [ { video: first, encode: { codec: h264, bitrate: 300k, passes: 2, preset: ultrafast } } ]"
                    ),
                    (
                        "b",
                        "tracks: [ { video: first, encode: { codec: h264, bitrate: 100k, passes: 2, preset: ultrafast, size: 64x } }, { audio: first, encode: { codec: flac, normalize: -20 } } ]"
                    ),
                    ("c", "tracks: [ { audio: first, encode: { codec: flac } } ], limit: { size: 30kB }"),
                    (
                        "d",
                        "tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], limit: { size: 30kB }, container: wav, destination: out/d.wav"
                    ),
                ].filter { $0.0 != "c" }), to: "jobs.yaml")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("done one/d") && run.errors.contains("LUFS"), "\(run.errors)")
        let source = try FFmpegFile(scratch.file("a.mp4")).decodedFrames().count
        #expect(try FFmpegFile(scratch.file("out/a.mkv")).decodedFrames().count == source)
        #expect(try FFmpegFile(scratch.file("out/b.mkv")).decodedFrames().count == source)
        let size = try FileManager.default.attributesOfItem(atPath: scratch.file("out/d.wav"))[.size]
        #expect(((size as? Int) ?? 0) <= 30_000 && ((size as? Int) ?? 0) > 20_000)
    }

    /// A part of a plan contains all outputs of a job, and `collect` verifies each.
    @Test func collectVerifiesEachOutput() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            job([("a", "tracks: [ \(Self.lossless) ]"), ("b", "tracks: [ \(Self.lossless) ]")]),
            to: "jobs.yaml")
        #expect(try tandem("plan", "--shards", "2", "--out", "s", "jobs.yaml", in: scratch).status == 0)
        let unfinished = try tandem("collect", "s", in: scratch)
        #expect(unfinished.status != 0)
        for part in ["0", "1"] {
            #expect(try tandem("run", "--plan", "s", "--shard", part, in: scratch).status == 0)
        }
        let collected = try tandem("collect", "s", in: scratch)
        #expect(collected.status == 0, "\(collected.text)\(collected.errors)")
        try FileManager.default.removeItem(atPath: scratch.file("out/b.mkv"))
        #expect(try tandem("collect", "s", in: scratch).status != 0)
    }

    @Test func eventsAndJUnitNameOutputs() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            job([("a", "tracks: [ \(Self.lossless) ]"), ("b", "tracks: [ \(Self.lossless) ]")]),
            to: "jobs.yaml")
        let run = try tandem("run", "--events", "e.jsonl", "--junit", "j.xml", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let lines = try String(contentsOfFile: scratch.file("e.jsonl"), encoding: .utf8).split(
            separator: "\n")
        let ended = try lines.map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }.filter { $0["event"] as? String == "job_finished" }
        #expect(ended.count == 1 && ended[0]["job"] as? String == "one")
        let outputs = try #require(ended[0]["outputs"] as? [[String: Any]])
        #expect(outputs.map { $0["id"] as? String } == ["one/a", "one/b"])
        #expect(
            outputs.allSatisfy { ($0["size"] as? Int ?? 0) > 0 && $0["outcome"] as? String == "succeeded" })
        let junit = try String(contentsOfFile: scratch.file("j.xml"), encoding: .utf8)
        #expect(junit.contains("one/a") && junit.contains("one/b"))
    }

    /// Two outputs with the same destination are an error of the plan.
    @Test func collisionsOfOutputsAreErrorsOfThePlan() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            job([
                ("a", "tracks: [ \(Self.lossless) ]"),
                ("b", "tracks: [ \(Self.lossless) ], destination: ./out/a.mkv"),
            ]),
            to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 3 && plan.errors.contains("two outputs have the destination"), "\(plan.errors)")
        try scratch.write(
            job([
                ("a", "tracks: [ { audio: 7, copy: true } ]"), ("b", "tracks: [ { video: 9, copy: true } ]"),
            ]), to: "jobs.yaml")
        let both = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            both.errors.contains("no audio track matches") && both.errors.contains("no video track matches"))
        #expect(files(scratch) == [])
    }

    private func report(_ scratch: Scratch, _ name: String = "r.json") throws -> [String: [String: Any]] {
        let json = try JSONSerialization.jsonObject(
            with: try Data(contentsOf: URL(filePath: scratch.file(name))))
        let jobs = try #require((json as? [String: Any])?["jobs"] as? [[String: Any]])
        return Dictionary(
            jobs.map { ($0["id"] as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A skipped output is reported, for any outcome of the others.
    @Test func skippedOutputsAreReported() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                destination: { path: "out/${output}.mkv", if_exists: skip }
                outputs: { a: { tracks: [ \(Self.lossless) ] }, b: { tracks: [ \(Self.lossless) ] } }
            """, to: "jobs.yaml")
        try FileManager.default.createDirectory(
            atPath: scratch.file("out"), withIntermediateDirectories: true)
        try scratch.write("theirs", to: "out/b.mkv")
        for outcome in ["succeeded", "up-to-date"] {
            let run = try tandem("run", "--report", "r.json", "jobs.yaml", in: scratch)
            #expect(
                run.status == 0 && run.errors.contains("skip one/b: the destination exists"), "\(run.errors)")
            let jobs = try report(scratch)
            #expect(jobs["one/a"]?["outcome"] as? String == outcome)
            #expect(jobs["one/b"]?["outcome"] as? String == "skipped")
            #expect(jobs["one/b"]?["reason"] as? String == "the destination exists")
        }
        #expect(try String(contentsOfFile: scratch.file("out/b.mkv"), encoding: .utf8) == "theirs")
    }

    /// Warnings of an output that is up to date are repeated when another output runs.
    @Test func warningsOfUpToDateOutputsAreRepeated() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            job([
                ("a", "tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], limit: { size: 40kB }"),
                ("b", "tracks: [ \(Self.lossless) ]"),
            ]), to: "jobs.yaml")
        let first = try tandem("run", "jobs.yaml", in: scratch)
        try #require(first.errors.contains("warning: a: ends at"), "\(first.errors)")
        try FileManager.default.removeItem(atPath: scratch.file("out/b.mkv"))
        let second = try tandem("run", "--report", "r.json", "--warnings-as-errors", "jobs.yaml", in: scratch)
        #expect(second.status == 1 && second.errors.contains("warning: a: ends at"), "\(second.errors)")
        let warnings = try report(scratch)["one/a"]?["warnings"] as? [String]
        #expect(warnings?.count == 1, "\(String(describing: warnings))")
    }

    /// Failures and expectations name the output, each failure once. A folder at an output's destination is an error.
    /// `--only` accepts job names, not outputs.
    @Test func messagesNameTheOutput() throws {
        let scratch = try folderWithSource()
        let two = [("a", "tracks: [ \(Self.lossless) ]"), ("b", "tracks: [ \(Self.lossless) ]")]
        try scratch.write(job(two), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        try scratch.write(job(two, more: "expect: { size: { max: 10B } }"), to: "jobs.yaml")
        let evaluated = try tandem("run", "jobs.yaml", in: scratch)
        let summary = evaluated.errors.split(separator: "\n").first { $0.hasPrefix("fail") } ?? ""
        #expect(
            summary.components(separatedBy: "the output of an earlier run is kept").count == 2, "\(summary)")
        #expect(
            evaluated.errors.contains("one: a: expected") && evaluated.errors.contains("one: b: expected"))

        try scratch.write(job(two, more: "expect: { duration: 50s }"), to: "jobs.yaml")
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(plan.status == 3 && plan.errors.contains("a: expected duration 50 s"), "\(plan.errors)")

        try scratch.write(
            job([
                ("a", "tracks: [ \(Self.lossless) ], container: mkv, destination: ./out/x"),
                ("b", "tracks: [ \(Self.lossless) ], destination: ./out/x/b.mkv"),
            ]), to: "nested.yaml")
        let nested = try tandem("plan", "nested.yaml", in: scratch)
        #expect(
            nested.status == 3 && nested.errors.contains("which is the output file of one/a"),
            "\(nested.errors)")

        let only = try tandem("run", "--only", "one/a", "jobs.yaml", in: scratch)
        #expect(
            only.status == 3 && only.errors.contains("it is an output of the job `one`"), "\(only.errors)")
    }

    /// After a timeout or a signal, no output files are left; a retry creates all outputs.
    @Test func timeoutsAndSignalsLeaveNoOutputs() throws {
        let scratch = try folderWithSource()
        let slow = """
            version: 1
            jobs:
              one:
                asset: { pattern: testsrc, size: 1280x720, duration: 36000s, tone: 1kHz }
                LIMIT
                destination: "out/${output}.mkv"
                outputs:
                  a: { tracks: [ { video: first, encode: { codec: h264, preset: veryslow } } ] }
                  b: { tracks: [ { audio: first, encode: { codec: flac } } ] }
            """
        try scratch.write(slow.replacing("LIMIT", with: "timeout: 1s"), to: "jobs.yaml")
        let late = try tandem("run", "jobs.yaml", in: scratch)
        #expect(late.status == 1 && late.errors.contains("exceeded its timeout of "), "\(late.errors)")
        #expect(files(scratch) == [])
        try scratch.write(slow.replacing("LIMIT", with: "retries: 0"), to: "jobs.yaml")
        let ended = try program(
            "timeout", ["--preserve-status", "-s", "TERM", "2", TestPaths.tandem, "run", "jobs.yaml"],
            directory: scratch.path)
        #expect(ended.status == 143, "\(ended.status) \(ended.errors)")
        #expect(files(scratch) == [])

        let text = job(
            [("a", "tracks: [ \(Self.lossless) ]"), ("b", "tracks: [ \(Self.lossless) ]")],
            more: "retries: 1")
        try scratch.write(text, to: "again.yaml")
        let retried = try program(
            TestPaths.tandem, ["run", "again.yaml"], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:abort"])
        #expect(retried.status == 0, "\(retried.errors)")
        #expect(files(scratch) == ["a.mkv", "b.mkv"])
    }
}
