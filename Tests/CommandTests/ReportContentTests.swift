import Foundation
import JobPlan
import LibAV
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork
@testable import Media

/// Tests the contents of reports and messages: the command that reruns failed jobs, names of jobs, and the HTML page.
@Suite struct ReportContentTests {
    /// The printed command reruns failed jobs whose names contain an invisible character or a quote.
    @Test func printedCommandRerunsFailedJobs() throws {
        let scratch = try Scratch()
        for name in ["a\u{200b}b.wav", "it's.wav"] {
            try ffmpeg(
                "-f", "lavfi", "-i", "sine=d=0.2", scratch.file("in/x.wav").replacing("in/x.wav", with: name))
        }
        try scratch.write(
            """
            version: 1
            jobs:
              pack: { asset: "*.wav", tracks: [ { audio: first, encode: { codec: flac } } ], destination: "out/${asset.stem}.flac", expect: { size: { max: 10B } } }
            """, to: "jobs.yaml")
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 5, "\(first.errors)")
        let line = try #require(
            first.errors.split(separator: "\n").first { $0.hasPrefix("run again: tandem ") })
        #expect(!line.contains("\u{fffd}") && !line.contains("\u{200b}"), "\(line)")
        let words = line.dropFirst("run again: tandem ".count)
        let rerun = try program(
            "/bin/bash", ["-c", "exec \"$0\" \(words)", TestPaths.tandem], directory: scratch.path)
        #expect(rerun.status == 5 && rerun.errors.contains("0 of 2 jobs done"), "\(line)\n\(rerun.errors)")
    }

    /// If a run ends before its first job, the step summary names the affected job, not the rule.
    @Test func stepSummaryNamesTheJob() throws {
        let scratch = try Scratch()
        try scratch.write(
            """
            version: 1
            settings: { s: { codec: nope } }
            jobs:
              fine: { asset: a.mp4, tracks: [ { video: first, copy: true } ], destination: a.mkv }
              wrong:
                asset: a.mp4
                tracks: [ { video: first, copy: true } ]
                destinatoin: b.mkv
            x-jobs: 1
            other: 1
            """, to: "jobs.yaml")
        let result = try tandem(
            "run", "jobs.yaml", in: scratch,
            environment: ["GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": scratch.file("s.md")])
        #expect(result.status == 3)
        let summary = try String(contentsOfFile: scratch.file("s.md"), encoding: .utf8)
        let rows = summary.split(separator: "\n").filter { $0.contains("jobs.yaml:") }
        #expect(rows.contains { $0.hasPrefix("| wrong | jobs.yaml:8:") }, "\(summary)")
        #expect(rows.contains { $0.hasPrefix("|  | jobs.yaml:10:") }, "\(summary)")
        #expect(!summary.contains("unknown-key"), "\(summary)")
    }

    // MARK: The HTML page

    private static func job(_ index: Int) -> RunReport.Job {
        var job = RunReport.Job(
            id: "job[\(index)]", file: "jobs.yaml", line: index + 1, outcome: .succeeded, begun: 0,
            seconds: 1,
            slot: 0, attempts: 1)
        job.source = "/media/source-\(index).mp4"
        job.destination = "/out/output-\(index).mp4"
        (job.size, job.duration) = (1000, 2)
        job.tracks = [RunReport.Track(source: "video", action: "libx264", settings: [], samples: 50)]
        return job
    }

    /// A preview with thumbnails as large as those of a detailed source.
    private static var preview: JobPreview {
        let thumbnail = Thumbnail(time: .zero, width: 192, height: 108, jpeg: Data(repeating: 7, count: 4300))
        return JobPreview(
            pairs: [JobPreview.Pair](
                repeating: JobPreview.Pair(source: thumbnail, output: thumbnail), count: 3),
            waveform: Waveform(
                duration: .zero, peaks: [UInt8](repeating: 200, count: 240),
                levels: [UInt8](repeating: 90, count: 240)))
    }

    @Test(arguments: [3, 300, 2000]) func pageSizeIsProportionalToTheNumberOfJobs(_ count: Int) {
        let jobs = (0..<count).map(Self.job)
        let report = RunReport(jobs: jobs, files: ["jobs.yaml"], begun: 0, seconds: 1, status: .succeeded)
        let shown = Dictionary(
            uniqueKeysWithValues: jobs.prefix(HTMLRenderer.maxPreviews).map {
                (OutputKey(file: $0.file, id: $0.id), Self.preview)
            })
        let page = HTMLRenderer.render(report, previews: shown)
        let images = page.components(separatedBy: "<img ").count - 1
        if count == 3 {
            #expect(images == 18)
        } else {
            #expect(page.utf8.count <= count * 15_000, "\(page.utf8.count)")
            // Each job has at least one image, of its output.
            #expect(images >= shown.count, "\(images)")
        }
        #expect(page.components(separatedBy: "<tr data-job=").count - 1 == min(count, 500))
    }

    /// Jobs of several machines that ran at the same time are in different rows of the timeline.
    @Test func concurrentJobsHaveRowsOfTheirOwn() {
        var jobs = (0..<4).map(Self.job)
        for (index, begun) in [0.0, 0.5, 1, 10].enumerated() {
            (jobs[index].begun, jobs[index].seconds, jobs[index].slot) = (begun, 1, 0)
        }
        let report = RunReport(jobs: jobs, files: ["jobs.yaml"], begun: 0, seconds: 11, status: .succeeded)
        let page = HTMLRenderer.render(report)
        let rows = page.split(separator: "<rect ").dropFirst().compactMap { text in
            text.split(separator: " y=\"").dropFirst().first?.prefix { $0 != "\"" }
        }
        #expect(
            rows == ["2", "24", "2", "2"] && page.contains(">2</text>") && !page.contains(">3</text>"),
            "\(rows)")
    }

    /// The page of a very large run lists some of its jobs.
    @Test func veryLargeRunsAreListedInPart() {
        var jobs = (0..<20_002).map(Self.job)
        jobs[20_001].outcome = .cancelled
        let report = RunReport(jobs: jobs, files: ["jobs.yaml"], begun: 0, seconds: 1, status: .succeeded)
        let page = HTMLRenderer.render(report)
        #expect(page.contains("The first 20000 of 20002 jobs are listed"))
        #expect(
            page.components(separatedBy: "<th scope=\"row\">").count - 1 >= 20_000
                && !page.contains("Timeline"))
        #expect(!page.contains("job[20000]") && page.contains("job[20001]"))
    }

    /// In a browser, the filter of the page hides rows, and a click on a column heading sorts them.
    @Test func pageFiltersAndSortsRows() throws {
        let scratch = try Scratch()
        var jobs = (0..<12).map(Self.job)
        for index in jobs.indices { jobs[index].seconds = Double((index * 5) % 12) }
        jobs[4].outcome = .skipped
        let report = RunReport(jobs: jobs, files: ["jobs.yaml"], begun: 0, seconds: 1, status: .succeeded)
        let driver = """
            <script>
            const box = document.getElementById("filter");
            const rows = () => [...document.querySelectorAll("#all tbody tr")].filter(r => !r.hidden).map(r => r.cells[0].textContent);
            const result = {};
            box.value = "skipped"; box.dispatchEvent(new Event("input"));
            result.filtered = rows();
            result.details = [...document.querySelectorAll("details")].filter(d => !d.hidden).length;
            box.value = ""; box.dispatchEvent(new Event("input"));
            const heads = [...document.querySelectorAll("#all thead th")];
            heads[2].querySelector("button").click();
            result.sorted = rows();
            heads[0].querySelector("button").click(); heads[0].querySelector("button").click();
            result.reversed = rows();
            document.body.innerHTML = "<pre id=result>" + JSON.stringify(result) + "</pre>";
            </script>
            """
        try scratch.write(
            HTMLRenderer.render(report).replacing("</body>", with: driver + "</body>"), to: "r.html")
        let shown = try program(
            "timeout",
            [
                "120", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                "--user-data-dir=" + scratch.file("browser"), "--dump-dom",
                "file://" + scratch.file("r.html"),
            ])
        let start = try #require(shown.text.range(of: "<pre id=\"result\">"), "\(shown.errors)")
        let end = try #require(shown.text.range(of: "</pre>"))
        let data = Data(shown.text[start.upperBound..<end.lowerBound].utf8)
        let result = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(result["filtered"] as? [String] == ["job[4]"])
        #expect(result["details"] as? Int == 1)
        let bySeconds = jobs.sorted { $0.seconds < $1.seconds }.map(\.id)
        #expect(result["sorted"] as? [String] == bySeconds)
        #expect((result["reversed"] as? [String])?.first == "job[11]")
    }
}
