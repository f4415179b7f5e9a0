import Foundation
import TestSupport
import Testing

/// Runs of jobs that depend on their sources: skipped jobs, declined outputs, and their reports.
@Suite struct ConditionTests {
    private func write(_ jobs: String, in scratch: Scratch) throws {
        try scratch.write("version: 1\njobs:\n" + jobs, to: "jobs.yaml")
    }

    /// A folder with `a.mp4`: H.264 of 1 s in 128x96 with AAC.
    private func folder() throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=1", "-f", "lavfi", "-i",
            "sine=duration=1", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", scratch.file("a.mp4")
        )
        return scratch
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private static let skipped = """
          large:
            asset: ./a.mp4
            when: { video: { height: { min: 720 } } }
            tracks: [ { video: first, copy: true } ]
            destination: large.mp4
          reader: { asset: { job: large }, tracks: [ { video: first, copy: true } ], destination: reader.mp4 }
          after: { asset: ./a.mp4, needs: large, tracks: [ { video: first, copy: true } ], destination: after.mp4 }

        """
    private static let reason = "video track 0: `height` is 96 (required: at least 720)"

    @Test func skippedJobsAreReported() throws {
        let scratch = try folder()
        try write(Self.skipped, in: scratch)
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.status == 0 && plan.text.contains("large\n  skipped    \(Self.reason)\n"), "\(plan.text)")
        #expect(plan.text.hasSuffix("; 2 skipped\n"))
        let report = try json(tandem("plan", "--format", "json", "jobs.yaml", in: scratch).text)
        let skips = try #require((report["plan"] as? [String: Any])?["skips"] as? [[String: Any]])
        #expect(skips.map { $0["id"] as? String } == ["large", "reader"])
        let run = try tandem(
            "run", "jobs.yaml", "--junit", "junit.xml", "--report", "report.html", "--events", "events.jsonl",
            in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("skip large: \(Self.reason)\n"))
        #expect(run.errors.contains("skip reader: the job `large`, whose output it reads, is skipped\n"))
        #expect(run.errors.contains("3 of 3 jobs done, 2 skipped\n"))
        #expect(!scratch.contents.contains("large.mp4") && scratch.contents.contains("after.mp4"))
        let junit = try String(contentsOfFile: scratch.file("junit.xml"), encoding: .utf8)
        #expect(junit.contains("skipped=\"2\"") && junit.contains("height"))
        let html = try String(contentsOfFile: scratch.file("report.html"), encoding: .utf8)
        #expect(html.contains("is 96 (required: at least 720)"))
        let events = try String(contentsOfFile: scratch.file("events.jsonl"), encoding: .utf8)
        #expect(events.contains("\"outcome\":\"skipped\""))
        let why = try tandem("explain", "jobs.yaml", "large", in: scratch)
        #expect(why.text == "large: will be skipped\n  \(Self.reason)\n")
        // The condition is evaluated again when the source changes.
        try ffmpeg(
            "-y", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=25:duration=1", "-c:v", "libx264",
            "-preset", "ultrafast", scratch.file("a.mp4"))
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("3 of 3 jobs done\n"))
        #expect(scratch.contents.contains("reader.mp4"))
    }

    /// A condition on a file that another job creates is evaluated when the file exists.
    @Test func conditionsOnOutputsAreEvaluatedDuringTheRun() throws {
        let scratch = try folder()
        try write(
            """
              make: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264 } } ], destination: b.mp4 }
              small: { asset: { job: make }, when: { size: { min: 1MB } }, tracks: [ { video: first, copy: true } ], destination: c.mp4 }
              last: { asset: { job: small }, tracks: [ { video: first, copy: true } ], destination: d.mp4 }
              cut: { asset: ./a.mp4, tracks: [ { video: first, encode: { codec: h264, crf: 1, preset: ultrafast } } ], limit: { size: 60kB }, destination: cut.mp4 }
              short: { asset: { job: cut }, when: { duration: { max: 0.9s }, video: { bit_rate: { max: 1000M } } }, tracks: [ { video: first, copy: true } ], destination: short.mp4 }
              joined: { composition: [ { job: cut } ], when: { duration: { max: 0.9s } }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: joined.mp4 }

            """, in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("skip small: `size` is "), "\(run.errors)")
        #expect(run.errors.contains("skip last: the job `small`, whose output it reads, has no output\n"))
        #expect(run.errors.contains("6 of 6 jobs done, 2 skipped\n"))
        // What a plan predicts of an output that ends early doesn't decide.
        #expect(scratch.contents.contains("short.mp4") && scratch.contents.contains("joined.mp4"))
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.text.contains("small  →  ") && plan.text.contains("\n  skipped    `size` is "),
            "\(plan.text)")
        #expect(!scratch.contents.contains("c.mp4") && !scratch.contents.contains("d.mp4"))
    }

    @Test func declinedOutputsAreNotCreatedAgain() throws {
        let scratch = try folder()
        func job(_ saving: String, crf: Int = 1) -> String {
            """
              web:
                asset: ./a.mp4
                publish_if: { smaller_by: \(saving) }
                tracks: [ { video: first, encode: { codec: h264, crf: \(crf) } } ]
                destination: web.mp4
              reader: { asset: { job: web }, tracks: [ { video: first, copy: true } ], destination: reader.mp4 }

            """
        }
        try write(job("20%"), in: scratch)
        let first = try tandem("run", "jobs.yaml", "--events", "events.jsonl", in: scratch)
        #expect(first.status == 0 && first.errors.contains("drop web: not published: "), "\(first.errors)")
        #expect(first.errors.contains("`publish_if` requires that it is smaller by 20%\n"))
        #expect(first.errors.contains("skip reader: the job `web`, whose output it reads, has no output\n"))
        #expect(first.errors.contains("2 of 2 jobs done, 1 skipped, 1 declined\n"))
        #expect(scratch.contents == ["a.mp4", "events.jsonl", "jobs.yaml"])
        #expect(
            try String(contentsOfFile: scratch.file("events.jsonl"), encoding: .utf8).contains(
                "\"outcome\":\"declined\""))
        // Nothing is encoded, and the same reason is reported.
        let again = try tandem("run", "jobs.yaml", in: scratch)
        #expect(again.status == 0 && !again.errors.contains("web: started"), "\(again.errors)")
        #expect(again.errors.contains("drop web: not published: "))
        #expect(
            try tandem("explain", "jobs.yaml", "web", in: scratch).text.hasPrefix(
                "web: declined\n  the output has "))
        #expect(try tandem("plan", "jobs.yaml", in: scratch).text.contains("\n  declined   the output has "))
        // Another setting creates the output again.
        try write(job("20%", crf: 40), in: scratch)
        let other = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            other.errors.contains("done web: ") && other.errors.contains("done reader: "), "\(other.errors)")
        // So does `--force`.
        try write(job("20%").replacing("web.mp4", with: "w.mp4"), in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("drop web"))
        let plan = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            plan.text.contains("\n  skipped    the job `web`, whose output it reads, has no output\n"),
            "\(plan.text)")
        #expect(plan.text.hasSuffix("; 1 declined; 1 skipped\n"))
        #expect(try tandem("run", "--force", "jobs.yaml", in: scratch).errors.contains("web: started"))
    }

    /// A condition that the declined output meets creates it again, with the same settings.
    @Test func relaxedConditionsPublish() throws {
        let scratch = try folder()
        func job(_ saving: String) -> String {
            """
              web:
                asset: ./a.mp4
                publish_if: { smaller_by: \(saving) }
                tracks: [ { video: first, encode: { codec: h264, crf: 30 } } ]
                destination: web.mp4

            """
        }
        try write(job("99%"), in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("drop web"))
        try write(job("98%"), in: scratch)
        let same = try tandem("run", "jobs.yaml", in: scratch)
        #expect(same.errors.contains("drop web") && !same.errors.contains("started"), "\(same.errors)")
        try write(job("1%"), in: scratch)
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("done web: "))
        // A published output stays published.
        try write(job("99%"), in: scratch)
        #expect(
            try tandem("run", "jobs.yaml", in: scratch).errors.contains(
                "1 of 1 jobs done, 1 of them up to date"))
    }

    /// The part of a plan that contains a skipped or declined job is complete.
    @Test func partsOfPlansReportSkippedAndDeclinedJobs() throws {
        let scratch = try folder()
        try write(
            Self.skipped + """
                  web:
                    asset: ./a.mp4
                    publish_if: { smaller_by: 99.9% }
                    tracks: [ { video: first, encode: { codec: h264 } } ]
                    destination: web.mp4
                  copy: { asset: ./a.mp4, tracks: [ { video: first, copy: true } ], destination: copy.mp4 }
                  hevc: { asset: { job: copy }, when: { video: { codec: hevc } }, tracks: [ { video: first, copy: true } ], destination: hevc.mp4 }
                  last: { asset: ./a.mp4, needs: [reader, hevc], tracks: [ { video: first, copy: true } ], destination: last.mp4 }

                """, in: scratch)
        #expect(try tandem("plan", "--shards", "2", "--out", "parts", "jobs.yaml", in: scratch).status == 0)
        for part in 0..<2 {
            let run = try tandem("run", "--plan", "parts", "--shard", "\(part)", in: scratch)
            #expect(run.status == 0, "\(run.errors)")
        }
        #expect(scratch.contents.contains("after.mp4") && scratch.contents.contains("last.mp4"))
        let whole = try tandem("collect", "parts", "--junit", "junit.xml", in: scratch)
        #expect(whole.status == 0, "\(whole.errors)")
        let junit = try String(contentsOfFile: scratch.file("junit.xml"), encoding: .utf8)
        #expect(junit.contains("tests=\"7\"") && junit.contains("skipped=\"4\""), "\(junit)")
    }

    /// The treatment of each track follows from its own properties.
    @Test func conformingTracksAreCopied() throws {
        let scratch = try folder()
        try write(
            """
              web:
                asset: ./a.mp4
                tracks:
                  - { video: first, copy: { where: { codec: h264, height: { max: 96 }, bit_rate: { max: 100M } } }, encode: { codec: h264 } }
                  - audio: first
                    choose:
                      - { when: { audio: { channels: { min: 2 } } }, copy: true }
                      - { encode: { codec: mp3 } }
                destination: web.mp4

            """, in: scratch)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let source = try FFmpegFile(scratch.file("a.mp4")).packetHashes("v")
        #expect(try FFmpegFile(scratch.file("web.mp4")).packetHashes("v") == source)
        let probed = try FFmpegFile(scratch.file("web.mp4")).probe(["-show_entries", "stream=codec_name"])
        let codecs = (probed["streams"] as? [[String: Any]] ?? []).compactMap { $0["codec_name"] as? String }
        #expect(codecs == ["h264", "mp3"])
    }
}
