import Foundation
import JobPlan
import LibAV
import Media
import Testing

@testable import JobRun
@testable import PlanWork

/// Tests the comparison of outputs by size and similarity in the HTML report.
@Suite struct ComparisonMarkupTests {
    private func job(
        _ id: String, _ size: Int64?, _ values: Double..., of source: String? = "/in/film.mp4",
        metric: SimilarityMetric = .ssim
    ) -> RunReport.Job {
        var job = RunReport.Job(
            id: id, file: "/jobs.yaml", line: 1, outcome: .succeeded, seconds: 1, slot: 0, attempts: 1)
        (job.source, job.size, job.duration) = (source, size, 2)
        job.expectations = values.map {
            RunReport.ExpectationEntry(
                expected: "e", measured: "m", holds: true, location: "jobs.yaml:1:1",
                similarity: MeasuredSimilarity(metric: metric, value: $0))
        }
        return job
    }

    private func report(_ jobs: RunReport.Job...) -> RunReport {
        RunReport(jobs: jobs, files: ["/jobs.yaml"], begun: 0, seconds: 1, status: .succeeded)
    }

    private func points(_ report: RunReport) -> [[String]] {
        SimilarityComparison.all(in: report).map { comparison in
            comparison.points.map { "\($0.id) \($0.size) \($0.value)\($0.isBest ? " best" : "")" }
        }
    }

    /// Outputs that another one beats in both respects aren't on the front; equal ones are on it together.
    @Test func front_hasTheSmallestOutputAtEachSimilarity() {
        let found = points(
            report(
                job("a", 400, 0.99), job("b", 100, 0.9), job("c", 200, 0.89), job("d", 300, 0.99),
                job("e", 100, 0.9)))
        #expect(
            found == [["b 100 0.9 best", "e 100 0.9 best", "c 200 0.89", "d 300 0.99 best", "a 400 0.99"]])
    }

    /// Only outputs of the same source with the same metric are compared.
    @Test func comparisons_haveOneSourceAndMetric() {
        let found = points(
            report(
                job("a", 1, 0.9), job("b", 2, 0.8, of: "/in/other.mp4"), job("c", 3, 40, metric: .psnr),
                job("d", 4, 0.7), job("e", nil, 0.6), job("f", 5, 0.5, of: nil), job("g", 6)))
        #expect(found == [["a 1 0.9 best", "d 4 0.7"]])
        #expect(ComparisonMarkup.render(report(job("a", 1, 0.9))) == "")
    }

    /// The similarity is that to the encoder's input, so other frame sizes aren't comparable; nor are other lengths.
    @Test func comparisons_haveOneFrameSizeAndLength() {
        func job(_ id: String, _ size: Int64, width: Int, seconds: Double) -> RunReport.Job {
            var job = self.job(id, size, 0.9)
            (job.frameSize, job.duration) = (PixelSize(width: width, height: 90), seconds)
            return job
        }
        let all = SimilarityComparison.all(
            in: report(
                job("a", 1, width: 160, seconds: 2), job("b", 2, width: 320, seconds: 2),
                job("c", 3, width: 160, seconds: 2.02), job("d", 4, width: 320, seconds: 1),
                job("e", 5, width: 320, seconds: 2), job("f", 6, width: 320, seconds: 0.98)))
        #expect(all.map { $0.points.map(\.id) } == [["a", "c"], ["b", "e"], ["d", "f"]])
        #expect(all.map(\.title) == ["film.mp4, 160x90", "film.mp4, 320x90", "film.mp4, 320x90"])
    }

    /// A search of `crf` counts with the similarity of its last file, and with its pool.
    @Test func searches_areComparedByTheirPool() {
        func searched(_ id: String, _ size: Int64, _ pool: SimilarityPool, _ value: Double) -> RunReport.Job {
            var job = job(id, size)
            job.quality = OutputResult.Quality(
                metric: .ssim, pool: pool, target: 0.9, within: 0.01, probes: [],
                encodes: [.init(crf: 20, value: 0.1), .init(crf: 18, value: value)])
            return job
        }
        let all = SimilarityComparison.all(
            in: report(
                searched("a", 1, .p5, 0.8), searched("b", 2, .p5, 0.9), searched("c", 3, .mean, 0.7),
                job("d", 4, 0.95)))
        #expect(all.map(\.name) == ["SSIM (5th percentile)", "SSIM"])
        #expect(all.map { $0.points.map(\.value) } == [[0.8, 0.9], [0.7, 0.95]])
    }

    @Test(arguments: [
        (["web[crf=20]", "web[crf=26]"], ["crf=20", "crf=26"]),
        (["web[crf=20]/hd", "web[crf=20]/sd"], ["crf=20/hd", "crf=20/sd"]),
        (["web[a.mp4,crf=20]", "web[a.mp4,crf=26]"], ["crf=20", "crf=26"]),
        (["web[crf=20]", "tv[crf=20]"], ["web[crf=20]", "tv[crf=20]"]), (["a", "b"], ["a", "b"]),
    ])
    func labels_areWhatDiffers(_ ids: [String], _ expected: [String]) {
        #expect(ComparisonMarkup.labels(of: ids) == expected)
    }

    /// Names are escaped, and equal frames, whose PSNR is infinite, are listed but not drawn.
    @Test func markup_isEscapedAndFinite() {
        let text = ComparisonMarkup.render(
            report(
                job("<a>", 100, 30, metric: .psnr), job("b", 200, 40, metric: .psnr),
                job("c", 300, SimilarityMetric.psnr.identity, metric: .psnr)))
        #expect(text.contains("<th scope=\"row\">&lt;a&gt;</th>") && !text.contains("<a>"))
        #expect(text.contains("<td class=\"number\" data-value=\"200.0\">no difference</td>"))
        #expect(text.split(separator: "<circle").count - 1 == 2)
        #expect(!text.contains("nan") && !text.contains("inf"))
        // With equal sizes or similarities there is nothing to draw.
        let flat = ComparisonMarkup.render(report(job("a", 100, 0.9), job("b", 100, 0.8)))
        #expect(!flat.contains("<svg") && flat.contains("<table"))
    }
}
