import Foundation
import TestSupport
import Testing

/// Tests jobs with `check`: failures, reruns, reports, cancellation, and parts of a plan.
@Suite struct CheckTests {
    private func write(_ jobs: String, in scratch: Scratch) throws {
        try scratch.write("version: 1\njobs:\n" + jobs, to: "jobs.yaml")
    }

    /// Overwrites the length of a coded frame, so that the frame can't be decoded.
    private func damage(_ path: String) throws {
        let json = try FFmpegFile(path).probe(["-select_streams", "v:0", "-show_entries", "packet=pos"])
        let packets = json["packets"] as? [[String: Any]] ?? []
        let place = try #require((packets[12]["pos"] as? String).flatMap { Int($0) })
        var data = try Data(contentsOf: URL(filePath: path))
        data.replaceSubrange(place..<(place + 4), with: [0xff, 0xff, 0xff, 0xff])
        try data.write(to: URL(filePath: path))
    }

    private func text(_ name: String, _ scratch: Scratch) throws -> String {
        try String(contentsOfFile: scratch.file(name), encoding: .utf8)
    }

    private func touch(_ date: String, _ scratch: Scratch) throws {
        #expect(try program("touch", ["-d", date, "a.mp4"], directory: scratch.path).status == 0)
    }

    private func truncate(_ path: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: try handle.seekToEnd() * 6 / 10)
        try handle.close()
    }

    /// A source with its index at the start, so that a truncated copy can be opened.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=1", "-f", "lavfi", "-i",
            "sine=duration=1", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-movflags",
            "+faststart", scratch.file("a.mp4"))
        return scratch
    }

    @Test func changedSourceOrCheckCausesARerun() throws {
        let scratch = try folder()
        func job(_ more: String = "") -> String { "  c: { asset: ./a.mp4, check: true\(more) }\n" }
        try write(job(", expect: { frames: 25 }"), in: scratch)
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 0 && first.errors.contains("done c: checked (0:01, "), "\(first.errors)")
        #expect(first.errors.contains("c: as expected: frames: 25 (expected 25)"))
        #expect(scratch.contents == ["a.mp4", "jobs.yaml"])
        let second = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(second.status == 0 && second.errors.contains("same c: up to date"), "\(second.errors)")
        #expect(try tandem("explain", "jobs.yaml", "c", in: scratch).text == "c: up to date\n")
        let forced = try tandem("run", "--force", "jobs.yaml", in: scratch)
        #expect(forced.errors.contains("done c: checked"), "\(forced.errors)")
        // A comment and a priority don't change the check.
        try write("  # delivered\n" + job(", expect: { frames: 25 }, priority: 1"), in: scratch)
        #expect(try tandem("explain", "jobs.yaml", "c", in: scratch).text == "c: up to date\n")
        #expect(try tandem("run", "-v", "jobs.yaml", in: scratch).errors.contains("same c"))
        for (more, words) in [
            (", expect: { frames: 25, video: { width: 128 } }", "added expectation: video width 128"),
            (", range: { end: 0.5s }", "range: all → 0 s to 0.5 s"), ("", "range: 0 s to 0.5 s → all"),
        ] {
            try write(job(more), in: scratch)
            let why = try tandem("explain", "jobs.yaml", "c", in: scratch)
            #expect(why.text.contains("c: will run\n") && why.text.contains(words), "\(why.text)")
            #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("done c: checked"))
        }
        try touch("2001-01-01", scratch)
        let why = try tandem("explain", "jobs.yaml", "c", in: scratch)
        #expect(why.text.contains("source time: "), "\(why.text)")
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("done c: checked"))
        // The content is unchanged.
        #expect(try tandem("run", "--fingerprint", "content", "jobs.yaml", in: scratch).status == 0)
        try touch("2002-02-02", scratch)
        let content = try tandem("run", "-v", "--fingerprint", "content", "jobs.yaml", in: scratch)
        #expect(content.errors.contains("same c"), "\(content.errors)")
    }

    @Test(arguments: ["true", "{ decode: false }"]) func aTruncatedSource_failsTheCheck(_ check: String)
        throws
    {
        let scratch = try folder()
        try ffmpeg("-i", scratch.file("a.mp4"), "-c", "copy", scratch.file("b.mkv"))
        for name in ["a.mp4", "b.mkv"] { try truncate(scratch.file(name)) }
        try write(
            "  a: { asset: ./a.mp4, check: \(check) }\n  b: { asset: ./b.mkv, check: \(check) }\n"
                + "  s: { asset: ./b.mkv, check: \(check), on_damage: skip }\n", in: scratch)
        let result = try tandem("run", "--junit", "j.xml", "jobs.yaml", in: scratch)
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("fail a: a.mp4, track "), "\(result.errors)")
        #expect(result.errors.contains("fail b: b.mkv is truncated: "), "\(result.errors)")
        #expect(result.errors.contains("s: warning: the source is truncated: "), "\(result.errors)")
        let junit = try text("j.xml", scratch)
        #expect(junit.contains("tests=\"3\" failures=\"2\""), "\(junit)")
    }

    /// A check fails if the source lacks its section, however short that is.
    @Test func aRangeWithoutSamples_failsTheCheck() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "anoisesrc=d=4:seed=1", "-c:a", "flac", scratch.file("a.flac"))
        try truncate(scratch.file("a.flac"))
        try write(
            "  c: { asset: ./a.flac, range: { start: 3s, end: 3.5s }, check: true, expect: { decodes: true } }\n",
            in: scratch)
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            result.status == 1 && result.errors.contains("a.flac: source track 0 is "), "\(result.errors)")
    }

    /// If a check fails after it passed, it runs again, even if the source's size and modification time are the same as
    /// when it passed.
    @Test func aFailure_replacesAnEarlierPass() throws {
        let scratch = try folder()
        try touch("2020-01-01", scratch)
        try write("  c: { asset: ./a.mp4, check: true }\n", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        try damage(scratch.file("a.mp4"))
        try touch("2020-01-01", scratch)
        #expect(try tandem("run", "--force", "jobs.yaml", in: scratch).status == 1)
        let explained = try tandem("explain", "jobs.yaml", "c", in: scratch)
        #expect(explained.text == "c: will run\n  the source failed the check\n", "\(explained.text)")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 1)
    }

    /// Damage fails the check, with its time, or is counted with `on_damage: skip`. A failed check runs again.
    @Test func damage_failsOrIsCounted() throws {
        let scratch = try folder()
        try damage(scratch.file("a.mp4"))
        try write("  c: { asset: ./a.mp4, check: true }\n", in: scratch)
        for _ in 0..<2 {
            let run = try tandem(
                "run", "jobs.yaml", in: scratch, environment: ["GITHUB_ACTIONS": "true"])
            #expect(run.status == 1, "\(run.errors)")
            let output = run.errors + run.text
            #expect(output.contains("c: a.mp4, track 0 (video), 0.48 s: "), "\(output)")
            #expect(output.contains("::error file=jobs.yaml,line=3,"), "\(output)")
        }
        #expect(try tandem("history", "jobs.yaml", in: scratch).text.contains("failed  c: a.mp4, track 0"))
        try write("  c: { asset: ./a.mp4, check: true, on_damage: skip }\n", in: scratch)
        let skipped = try tandem("run", "--report", "r.json", "jobs.yaml", in: scratch)
        let words = "source track 0: 1 damaged packets or frames skipped, the first at 0.48 s"
        #expect(skipped.status == 0 && skipped.errors.contains(words), "\(skipped.errors)")
        let report = try text("r.json", scratch)
        #expect(report.contains("\"kind\" : \"check\"") && report.contains(words), "\(report)")
        let rerun = try tandem("run", "--warnings-as-errors", "jobs.yaml", in: scratch)
        #expect(rerun.status == 1 && rerun.errors.contains("c: warning: \(words)"), "\(rerun.errors)")
        // A pass with skipped damage isn't valid for a check that fails on damage.
        try write("  c: { asset: ./a.mp4, check: true }\n", in: scratch)
        let why = try tandem("explain", "jobs.yaml", "c", in: scratch)
        #expect(why.text.contains("damaged data was skipped"), "\(why.text)")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 1)
        // All packets are complete although a frame is damaged. `decodes` fails even on damage that is skipped.
        try write("  p: { asset: ./a.mp4, check: { decode: false } }\n", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        try write(
            "  c: { asset: ./a.mp4, check: true, on_damage: skip, expect: { decodes: true } }\n", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 5)
    }

    /// Reports contain all measured values, even if the source passed in an earlier run.
    @Test func reports_haveAllExpectations() throws {
        let scratch = try folder()
        try write(
            """
              bad: { asset: ./a.mp4, check: true, expect: { frames: 26, video: { codec: vp9, width: 128 } } }
              good: { asset: ./a.mp4, check: {}, expect: { frames: 25, decodes: true } }

            """, in: scratch)
        for _ in 0..<2 {
            let run = try tandem(
                "run", "--junit", "j.xml", "--report", "r.json", "--report", "r.html", "--events", "e.jsonl",
                "jobs.yaml", in: scratch)
            #expect(run.status == 5, "\(run.errors)")
            let junit = try text("j.xml", scratch)
            for part in [
                "tests=\"7\" failures=\"2\"", "message=\"expected frames 26, measured 25\"",
                "<skipped message=\"an expectation of the source is not met\"/>", "name=\"good: frames 25\"",
            ] { #expect(junit.contains(part), "\(part) in \(junit)") }
            let valid = try program(
                "xmllint",
                [
                    "--noout", "--schema", TestPaths.repository + "/Tests/CommandTests/junit.xsd",
                    scratch.file("j.xml"),
                ])
            #expect(valid.status == 0, "\(valid.errors)")
            let html = try text("r.html", scratch)
            #expect(html.contains("decodes completely") && html.contains("nothing is written"), "\(html)")
            #expect(!html.contains("Destination"))
            let events = try text("e.jsonl", scratch)
            #expect(events.contains("\"event\":\"job_finished\"") && !events.contains("\"destination\""))
        }
    }

    /// A pattern checks each match, and jobs that need the check wait for all of them.
    @Test func aPattern_checksEachMatch() throws {
        let scratch = try folder()
        try FileManager.default.createDirectory(atPath: scratch.file("in"), withIntermediateDirectories: true)
        for name in ["1", "2", "3"] {
            try FileManager.default.copyItem(
                atPath: scratch.file("a.mp4"), toPath: scratch.file("in/\(name).mp4"))
        }
        try damage(scratch.file("in/2.mp4"))
        try write(
            """
              c: { asset: "in/*.mp4", check: true, expect: { video: { width: "${matrix.width}" } }, matrix: { width: [ 128 ] } }
              w: { asset: ./a.mp4, needs: c, tracks: [ { audio: first, copy: true } ], destination: o.m4a }

            """, in: scratch)
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 1 && first.errors.contains("2 of 4 jobs done, 2 not"), "\(first.errors)")
        #expect(first.errors.contains("w: not run, the job `c`, which it needs, did not succeed"))
        try FileManager.default.removeItem(atPath: scratch.file("in/2.mp4"))
        let second = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            second.status == 0 && second.errors.contains("3 of 3 jobs done, 2 of them up to date"),
            "\(second.errors)")
        #expect(scratch.contents.contains("o.m4a"))
    }

    /// A check of another job's output runs again after that job. If a job becomes a check, `clean` removes its output.
    @Test func aCheck_readsAnotherJobsOutput() throws {
        let scratch = try folder()
        func jobs(_ codec: String) -> String {
            """
              w: { asset: ./a.mp4, tracks: [ { audio: first, encode: { codec: \(codec) } } ], destination: o.mka }
              c: { asset: { job: w }, check: true, expect: { audio: { codec: \(codec) } } }

            """.replacing("o.mka }", with: "o.mka, container: mkv }")
        }
        try write(jobs("flac"), in: scratch)
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 0 && first.errors.contains("c: as expected"), "\(first.errors)")
        let second = try tandem("run", "jobs.yaml", in: scratch)
        #expect(second.errors.contains("2 of 2 jobs done, 2 of them up to date"), "\(second.errors)")
        try write(jobs("aac"), in: scratch)
        let why = try tandem("explain", "jobs.yaml", "c", in: scratch)
        #expect(why.text.contains("the job `w`, whose output it reads, runs"), "\(why.text)")
        let third = try tandem("run", "jobs.yaml", in: scratch)
        #expect(third.status == 0 && !third.errors.contains("up to date"), "\(third.errors)")
        try write("  w: { asset: ./a.mp4, check: true }\n", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try tandem("clean", "jobs.yaml", in: scratch).text.contains("o.mka"))
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).status == 0)
        #expect(!scratch.contents.contains("o.mka"))
        let last = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(last.errors.contains("same w: up to date"), "\(last.errors)")
    }

    /// A check that becomes a job with an output runs, and vice versa.
    @Test func aJob_thatWasACheck_writesItsOutput() throws {
        let scratch = try folder()
        try write("  j: { asset: ./a.mp4, check: true }\n", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let output = "  j: { asset: ./a.mp4, tracks: [ { audio: first, copy: true } ], destination: o.m4a }\n"
        try write(output, in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("done j: "))
        #expect(scratch.contents.contains("o.m4a"))
        try write("  j: { asset: ./a.mp4, check: true }\n", in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("done j: checked"))
    }

    @Test func workerCrashFailsTheCheck() throws {
        let scratch = try folder()
        try write(
            "  bad: { asset: ./a.mp4, check: true }\n  good: { asset: ./a.mp4, check: true }\n", in: scratch)
        for (fault, words) in [
            ("abort", "signal 6 (Aborted)"),
            ("impossibleReport", "it sent an impossible report of its output"),
            ("foreignFile", "it requested a file that doesn't belong to its source"),
        ] {
            let run = try tandem(
                "run", "--force", "jobs.yaml", in: scratch,
                environment: ["TANDEM_WORKER_FAULTS": "bad:\(fault)"])
            #expect(run.status == 1 && run.errors.contains(words), "\(run.errors)")
            #expect(run.errors.contains("1 of 2 jobs done, 1 not"), "\(run.errors)")
        }
        let retried = try text("jobs.yaml", scratch).replacing("bad: {", with: "bad: { retries: 1,")
        try scratch.write(retried, to: "jobs.yaml")
        let run = try tandem(
            "run", "--force", "jobs.yaml", in: scratch, environment: ["TANDEM_WORKER_FAULTS": "bad:abort"])
        #expect(run.status == 0, "\(run.errors)")
    }

    @Test(arguments: [[], ["--isolation", "none"]]) func aCheck_isCancelledAtOnce(_ options: [String]) throws
    {
        let scratch = try Scratch()
        try write(
            "  c: { asset: { pattern: testsrc, size: 1280x720, duration: 36000s }, check: true }\n",
            in: scratch
        )
        let script = """
            "$0" run \(options.joined(separator: " ")) jobs.yaml 2>log & pid=$!
            until grep -q 'c: started' log 2>/dev/null; do kill -0 $pid || exit 99; done
            kill -TERM $pid; wait $pid
            """
        let begun = Date()
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.status == 143, "\(result.errors)")
        #expect(Date().timeIntervalSince(begun) < 30)
        #expect(try text("log", scratch).contains("c: cancelled"))
        let why = try tandem("explain", "jobs.yaml", "c", in: scratch)
        #expect(why.text.contains("has not passed the check yet"), "\(why.text)")
    }

    @Test func aTimeout_endsACheck() throws {
        let scratch = try Scratch()
        try write(
            "  c: { asset: { pattern: testsrc, size: 1280x720, duration: 36000s }, check: true, timeout: 1s }\n",
            in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && run.errors.contains("exceeded its timeout of 1 s"), "\(run.errors)")
    }

    /// Checks run in parts of a plan; `collect` reports their results.
    @Test func parts_areCollected() throws {
        let scratch = try folder()
        try write(
            (1...3).map {
                "  c\($0): { asset: ./a.mp4, check: true, expect: { frames: \($0 == 3 ? 1 : 25) } }\n"
            }
            .joined(), in: scratch)
        #expect(
            try tandem("plan", "--shards", "2", "--out", "parts", "jobs.yaml", in: scratch).status == 0)
        let empty = try tandem("collect", "parts", in: scratch)
        #expect(
            empty.status == 1 && (empty.text + empty.errors).contains("c1"), "\(empty.text)\(empty.errors)")
        for shard in ["0", "1"] {
            _ = try tandem("run", "--plan", "parts", "--shard", shard, in: scratch)
        }
        let all = try tandem("collect", "parts", "--junit", "j.xml", in: scratch)
        #expect(all.status == 5, "\(all.text)\(all.errors)")
        let junit = try text("j.xml", scratch)
        #expect(
            junit.contains("failures=\"1\"") && junit.contains("expected frames 1, measured 25"), "\(junit)")
        #expect(junit.contains("name=\"c1: frames 25\""), "\(junit)")
    }

    /// A saved plan of a check runs, and is rejected after the source changes.
    @Test func savedPlanIsExecuted() throws {
        let scratch = try folder()
        try write("  c: { asset: ./a.mp4, check: true }\n", in: scratch)
        #expect(try tandem("plan", "--out", "plan.json", "jobs.yaml", in: scratch).status == 0)
        let run = try tandem("run", "--plan", "plan.json", in: scratch)
        #expect(run.status == 0 && run.errors.contains("done c: checked"), "\(run.errors)")
        try touch("2001-01-01", scratch)
        #expect(try tandem("run", "--plan", "plan.json", in: scratch).status != 0)
    }
}
