import Foundation
import TestSupport
import Testing

/// Warnings about published outputs are in all reports, are repeated by reruns, and are errors with
/// `--warnings-as-errors`.
@Suite struct WarningTests {
    /// Creates a source with damaged frames in the middle, and a job that reads it.
    private func batch(_ policy: String = "on_damage: skip, ") throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2", "-c:v", "libx264", "-preset",
            "ultrafast",
            "-g", "10", scratch.file("a.mp4"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: scratch.file("a.mp4")))
        let start = try #require(bytes.range(of: Data("mdat".utf8))).upperBound
        for offset in stride(from: 9000, to: 30_000, by: 700) { bytes[start + offset] ^= 0x55 }
        try bytes.write(to: URL(fileURLWithPath: scratch.file("a.mp4")))
        try scratch.write(
            """
            version: 1
            jobs:
              one: { asset: ./a.mp4, \(policy)tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ], destination: one.mp4 }
            """, to: "jobs.yaml")
        return scratch
    }

    @Test func skippedDamageIsInEveryReport() throws {
        let scratch = try batch()
        let words = "damaged packets or frames skipped"
        // The first run creates the output; the others find it up to date.
        for round in 0..<3 {
            let run = try tandem("run", "--junit", "u.xml", "--report", "r.html", "jobs.yaml", in: scratch)
            #expect(run.status == 0)
            #expect(run.errors.components(separatedBy: words).count == 2, "\(round): \(run.errors)")
            #expect(run.errors.contains("up to date") == (round > 0), "\(run.errors)")
            for file in ["u.xml", "r.html"] {
                let text = try String(contentsOfFile: scratch.file(file), encoding: .utf8)
                #expect(text.contains(words), "\(round) \(file)")
            }
            #expect(
                try String(contentsOfFile: scratch.file("r.html"), encoding: .utf8).contains(
                    "1 warning</span>"))
        }
        for format in ["github", "sarif", "json"] {
            let run = try tandem("run", "--format", format, "jobs.yaml", in: scratch)
            #expect(run.text.contains(words) && run.text.contains("job-warning"), "\(format): \(run.text)")
        }
        let summary = try tandem(
            "run", "jobs.yaml", in: scratch,
            environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": scratch.file("summary.md")])
        #expect(summary.text.hasPrefix("::warning file=jobs.yaml,line=3"), "\(summary.text)")
        #expect(try String(contentsOfFile: scratch.file("summary.md"), encoding: .utf8).contains(words))
        #expect(try tandem("history", "jobs.yaml", in: scratch).text.contains("warned  one: source track 0"))
    }

    /// A warning is stored as long as its output exists; warnings of other outputs are removed.
    @Test func warningsAreRecordedWithTheirOutput() throws {
        let scratch = try batch()
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        func database(_ sql: String) throws -> String {
            try program("sqlite3", [scratch.file(".tandem/state.sqlite"), sql]).text
        }
        _ = try database(
            """
            INSERT INTO warnings VALUES (0, 'jobs.yaml', 'one', '1-2.3', 'of another');
            INSERT INTO attempts VALUES (1, 'jobs.yaml', 'one', 'failed', 'long ago', 0);
            INSERT INTO runs (id, begun, files) VALUES (500, 0, '');
            """)
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.errors.contains("damaged packets or frames skipped"), "\(run.errors)")
        #expect(run.errors.contains("1 of them up to date"), "\(run.errors)")
        #expect(try database("SELECT count(*) FROM attempts") == "0\n")
        #expect(try database("SELECT count(*) FROM warnings") == "1\n")
    }

    @Test func warningsAsErrorsFailsRunsAndReruns() throws {
        let scratch = try batch()
        for _ in 0..<2 {
            let run = try tandem(
                "run", "--warnings-as-errors", "--events", "e.jsonl", "jobs.yaml", in: scratch)
            #expect(
                run.status == 1 && run.errors.contains("errors with --warnings-as-errors"), "\(run.errors)")
            let events = try String(contentsOfFile: scratch.file("e.jsonl"), encoding: .utf8)
            #expect(
                events.split(separator: "\n").last?.contains("\"status\":\"failed\"") == true, "\(events)")
            #expect(scratch.contents.contains("one.mp4"))
        }
        // A new output without warnings doesn't have those of the previous one.
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=2", scratch.file("a.mp4"))
        for _ in 0..<2 {
            let run = try tandem("run", "--warnings-as-errors", "jobs.yaml", in: scratch)
            #expect(run.status == 0 && !run.errors.contains("warning:"), "\(run.errors)")
        }
    }

    @Test func damageErrorsNameOnDamage() throws {
        let scratch = try batch("")
        let run = try tandem("run", "jobs.yaml", in: scratch)
        #expect(run.status == 1 && run.errors.contains("use `on_damage: skip`"), "\(run.errors)")
    }
}
