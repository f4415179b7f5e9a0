import Foundation
import TestSupport
import Testing

/// Tests the reports of runs: events, JUnit, JSON and the HTML page.
@Suite struct RunReportTests {
    @Test func eventsReportAndJUnitAreValid() throws {
        let scratch = try Scratch()
        try write(
            job("fine <&\"'>", more: "expect: { frames: 25 }").replacingOccurrences(
                of: "fine <&\"'>:", with: "fine:")
                + job(
                    "bad",
                    more:
                        "expect: { size: { max: 10B }, similarity: { psnr: { min: 190 } } }, metadata: { set: { title: \"<script>alert(1)</script>\" } }"
                )
                + job("after", more: "needs: bad"), in: scratch)
        let result = try tandem(
            "run", "--events", "events", "--junit", "junit.xml", "--report", "r.html", "--report", "r.json",
            "jobs.yaml", in: scratch,
            environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": scratch.file("summary.md")])
        #expect(result.status == 5, "\(result.errors)")
        #expect(
            result.text.components(separatedBy: "::error file=jobs.yaml,line=").count == 3, "\(result.text)")
        #expect(
            !result.errors.components(separatedBy: "\n").contains {
                $0.contains("error[") && $0.contains("more)")
            })
        let check = """
            import json, jsonschema, sys
            schema = json.load(open(sys.argv[1]))
            lines = [json.loads(line) for line in open("events")]
            for line in lines: jsonschema.validate(line, schema)
            planned = [l["job"] for l in lines if l["event"] == "job_planned"]
            ended = [l["job"] for l in lines if l["event"] == "job_finished"]
            assert sorted(planned) == sorted(ended) == ["after", "bad", "fine"], lines
            assert lines[0]["event"] == "run_started" and lines[-1]["event"] == "run_finished"
            assert lines[-1]["outcomes"] == {"succeeded": 1, "failed": 1, "not-run": 1}
            for name in planned:
                order = [l["event"] for l in lines if l.get("job") == name]
                assert order in (["job_planned", "job_started", "job_finished"], ["job_planned", "job_finished"]), order
            report = json.load(open("r.json"))
            assert [j["outcome"] for j in report["jobs"]][0] == "failed"
            assert len(report["jobs"][0]["expectations"]) == 2
            import xml.etree.ElementTree as tree
            junit = tree.parse("junit.xml").getroot()
            failed = [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None]
            assert len(failed) == 2 and all(name.startswith("bad: ") for name in failed), failed
            assert junit.get("failures") == "2"
            """
        let checked = try program(
            "python3", ["-c", check, TestPaths.repository + "/schemas/tandem-events-v1.schema.json"],
            directory: scratch.path)
        #expect(checked.status == 0, "\(checked.errors)")
        let xml = try program(
            "xmllint",
            [
                "--noout", "--schema", TestPaths.repository + "/Tests/CommandTests/junit.xsd",
                scratch.file("junit.xml"),
            ])
        #expect(xml.status == 0, "\(xml.errors)")
        let page = try String(contentsOfFile: scratch.file("r.html"), encoding: .utf8)
        // The only script is the page's own, which filters and sorts.
        #expect(page.components(separatedBy: "<script").count == 2 && !page.contains("alert(1)</script>"))
        #expect(
            !page.contains("http") && !page.contains(" src=\"/"), "the page must not load other resources")
        #expect(page.contains("measured ") && page.contains("jobs.yaml:"))
        #expect(try String(contentsOfFile: scratch.file("summary.md"), encoding: .utf8).contains("| bad |"))
    }

    /// Events and reports contain the probes and encodes of `quality`; a run in which nothing is to do encodes nothing.
    @Test func searchesForAQualityAreReported() throws {
        let scratch = try Scratch()
        try scratch.write(
            jobFile(
                asset: "{ pattern: testsrc, size: 160x120, frame_rate: 25, duration: 40s }",
                video: "codec: h264, preset: ultrafast, quality: { psnr: 40, pool: p5, within: 1 }",
                destination: "out.mp4"), to: "jobs.yaml")
        let run = try tandem("run", "--events", "events", "--report", "r.html", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        try tandem("run", "--report", "r.json", "--force", "jobs.yaml", in: scratch)
        let check = """
            import json, jsonschema, sys
            schema = json.load(open(sys.argv[1]))
            lines = [json.loads(line) for line in open("events")]
            for line in lines: jsonschema.validate(line, schema)
            quality = [l["quality"] for l in lines if l["event"] == "job_finished"][0]
            assert quality["metric"] == "psnr" and 1 <= len(quality["probes"]) <= 5, quality
            assert {p["windows"] for p in quality["probes"]} == {2, 8} and "windows" not in quality["encodes"][0], quality
            assert 39 <= quality["encodes"][-1]["value"] <= 41, quality
            assert json.load(open("r.json"))["jobs"][0]["quality"] == quality
            """
        let checked = try program(
            "python3", ["-c", check, TestPaths.repository + "/schemas/tandem-events-v1.schema.json"],
            directory: scratch.path)
        #expect(checked.status == 0, "\(checked.errors)")
        let page = try String(contentsOfFile: scratch.file("r.html"), encoding: .utf8)
        #expect(page.contains("circles: probes"))
        #expect(page.contains("<th scope=\"row\">probe of 2 windows</th>"))
        #expect(page.contains("<th scope=\"row\">probe of 8 windows</th>"))
        #expect(try tandem("run", "-v", "jobs.yaml", in: scratch).errors.contains("same one: up to date"))
        let explained = try tandem("explain", "jobs.yaml", "one", in: scratch).text
        #expect(run.errors.contains("     one: quality: "), "\(run.errors)")
        let lines = explained.split(separator: "\n")
        #expect(lines.prefix(2) == ["one: up to date", "  quality: psnr 40 dB, within 1 dB"])
        #expect(lines.dropFirst(2).count { $0.contains("x") && $0.hasSuffix("dB file") } == 1, "\(explained)")
        #expect(lines.count { $0.hasPrefix("    crf ") && $0.hasSuffix("windows") } >= 2, "\(explained)")
    }

    /// In a browser, the page shows failures first.
    @Test func pageShowsFailuresFirst() throws {
        let scratch = try Scratch()
        try write(job("fine") + job("bad", more: "expect: { size: { max: 10B } }"), in: scratch)
        try tandem("run", "--report", "r.html", "jobs.yaml", in: scratch)
        let shown = try program(
            "timeout",
            [
                "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                "--user-data-dir=" + scratch.file("browser"),
                "--dump-dom", "file://" + scratch.file("r.html"),
            ])
        let dom = shown.text
        #expect(shown.status == 0, "\(shown.errors)")
        let positions = [
            "<h1>", "id=\"failures\"", "<strong>bad</strong>", "id=\"timeline\"", "<rect class=\"succeeded\"",
            "id=\"jobs\"", "<strong>fine</strong>",
        ]
        .map { dom.range(of: $0)?.lowerBound }
        #expect(
            !positions.contains(nil) && positions.compactMap { $0 } == positions.compactMap { $0 }.sorted(),
            "\(dom.prefix(3000))")
    }

    /// The report contains frames of source and output, waveforms and bit rate curves, also for a failed output. An
    /// output without video has no frames.
    @Test(arguments: ["worker", "none"]) func pageShowsFramesWaveformsAndBitRates(_ isolation: String) throws
    {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "color=red:s=320x180:d=6:r=25", "-f", "lavfi", "-i", "sine=d=6", "-c:v",
            "libx264",
            "-c:a", "aac", scratch.file("a.mp4"))
        try scratch.write(
            """
            version: 1
            jobs:
              frames:
                asset: ./a.mp4
                range: { start: 1s, end: 5s }
                tracks: [ { video: first, encode: { codec: h264, orientation: 90 } }, { audio: first, encode: { codec: aac } } ]
                destination: frames.mp4
              audio:
                asset: ./a.mp4
                tracks: [ { audio: first, copy: true } ]
                leftover: drop
                expect: { size: { max: 10B } }
                destination: audio.m4a
            """, to: "jobs.yaml")
        let run = try tandem("run", "--isolation", isolation, "--report", "r.html", "jobs.yaml", in: scratch)
        #expect(run.status == 5, "\(run.errors)")
        let page = try String(contentsOfFile: scratch.file("r.html"), encoding: .utf8)
        let frames = page.components(separatedBy: "<img src=\"data:image/jpeg;base64,").dropFirst()
            .map { $0.prefix { $0 != "\"" } }
        #expect(frames.count == 6)
        #expect(page.components(separatedBy: "aria-label=\"Waveform of ").count == 3)
        #expect(page.components(separatedBy: "aria-label=\"Bit rate over ").count == 3)
        #expect(page.contains("source 1.67 s, output 0.67 s") && !page.contains("Not shown"))
        var sizes: [String] = []
        for (index, frame) in frames.enumerated() {
            let path = scratch.file("\(index).jpg")
            try #require(Data(base64Encoded: String(frame))).write(to: URL(filePath: path))
            let color = try program(
                "ffmpeg", ["-v", "error", "-i", path, "-vf", "scale=1:1,format=rgb24", "-f", "rawvideo", "-"])
            let probed = try program(
                "ffprobe",
                ["-v", "error", "-show_entries", "stream=width,height", "-of", "csv=p=0:s=x", path])
            sizes.append(probed.text.trimmingCharacters(in: .whitespacesAndNewlines))
            #expect(
                color.output.count == 3 && color.output[0] > 230 && color.output[1] < 30
                    && color.output[2] < 30)
        }
        #expect(sizes == ["192x108", "82x144", "192x108", "82x144", "192x108", "82x144"])
    }

    /// A job that is up to date is reported with the details of the run that created its output; unreadable details are
    /// omitted.
    @Test func upToDateJobsAreReportedWithRecordedDetails() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4", more: "expect: { frames: 25 }"), in: scratch)
        func run() throws -> (frames: Int, cases: Int, report: [String: Any]) {
            let run = try tandem(
                "run", "--report", "r.html", "--report", "r.json", "--junit", "j.xml", "jobs.yaml",
                in: scratch)
            #expect(run.status == 0, "\(run.errors)")
            let text = { try String(contentsOfFile: scratch.file($0), encoding: .utf8) }
            let report = try JSONSerialization.jsonObject(with: Data(text("r.json").utf8)) as? [String: Any]
            let jobs = try #require(report?["jobs"] as? [[String: Any]])
            return (
                try text("r.html").components(separatedBy: "<img ").count - 1,
                try text("j.xml").components(separatedBy: "<testcase ").count - 1, try #require(jobs.first)
            )
        }
        let first = try run()
        #expect(first.frames == 6 && first.cases == 2 && first.report["outcome"] as? String == "succeeded")
        func text(_ value: Any?) throws -> Data {
            try JSONSerialization.data(withJSONObject: [#require(value)], options: .sortedKeys)
        }
        func expectSame(locations: Bool) throws {
            let rerun = try run()
            #expect(rerun.frames == 6 && rerun.cases == 2)
            #expect(rerun.report["outcome"] as? String == "up-to-date")
            for key in ["ledger", "tracks", "size", "duration", "output", "destination", "source"] {
                #expect(try text(rerun.report[key]) == text(first.report[key]), "\(key)")
            }
            #expect(
                try (text(rerun.report["expectations"]) == text(first.report["expectations"])) == locations)
        }
        try expectSame(locations: true)
        // A comment in the job file changes only source locations.
        let spec = try String(contentsOfFile: scratch.file("jobs.yaml"), encoding: .utf8)
        try scratch.write("# hello\n" + spec, to: "jobs.yaml")
        try expectSame(locations: false)
        let damage = """
            import sqlite3
            db = sqlite3.connect(".tandem/state.sqlite")
            assert db.execute("UPDATE reports SET job = '{', preview = x'00'").rowcount == 1
            db.commit()
            """
        #expect(try program("python3", ["-c", damage], directory: scratch.path).status == 0)
        let bare = try run()
        #expect(bare.frames == 0 && bare.cases == 1 && bare.report["outcome"] as? String == "up-to-date")
    }

    /// A crash while the preview is created doesn't fail the job.
    @Test func failedPreviewsDontFailTheJob() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        let run = try tandem(
            "run", "--report", "r.html", "jobs.yaml", in: scratch,
            environment: ["TANDEM_WORKER_FAULTS": "one:abortAfterOutput"])
        #expect(run.status == 0 && scratch.contents.contains("out/one.mp4"), "\(run.errors)")
        let page = try String(contentsOfFile: scratch.file("r.html"), encoding: .utf8)
        #expect(page.contains("Not shown: the worker died while it inspected the output: signal 6"))
    }

    @Test func jsonReportsContainNoImages() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        try tandem("run", "--report", "r.json", "jobs.yaml", in: scratch)
        let report = try String(contentsOfFile: scratch.file("r.json"), encoding: .utf8)
        #expect(report.contains("\"outcome\" : \"succeeded\"") && !report.contains("jpeg"))
    }
}
