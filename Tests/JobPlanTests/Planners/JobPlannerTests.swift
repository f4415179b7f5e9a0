import Diagnostics
import JobSpec
import LibAV
import Publishing
import TestSupport
import Testing

@testable import JobPlan
@testable import Media

/// The planner of one job: a destination and a plan for each output.
@Suite struct JobPlannerTests {
    private func decide(
        _ snippet: JobSnippet, _ source: SourceDescription, files: FakeDisk = FakeDisk("/jobs/a.mp4")
    ) throws -> (plan: JobPlan?, findings: [String]) {
        let (file, _) = decode(snippet.yaml, file: "/jobs/jobs.yaml", directory: "/jobs")
        let jobFile = try #require(file)
        let catalog = SourceCatalog(
            [jobFile], prober: FakeProber(.description(source)), disk: files)
        var table = DestinationTable(on: files)
        let decision = JobPlanner(
            job: jobFile.jobs[0], file: jobFile, catalog: catalog, outputs: ReadOutputs(),
            destinationCheck: nil
        ).decide(&table)
        return (decision.value?.plan, snippet.findings(decision.reasons))
    }

    /// Outputs that read the same part of the source share an input.
    @Test func outputsShareInputs() throws {
        let snippet = try JobSnippet(
            "outputs:",
            "  web: { tracks: [ { video: first, copy: true } ], destination: web.mp4 }",
            "  audio: { tracks: [ { audio: first, copy: true } ], destination: audio.m4a }",
            "  short: { tracks: [ { audio: first, copy: true } ], limit: { duration: 4s }, destination: short.m4a }",
            asset: "a.mp4", to: nil)
        let (plan, findings) = try decide(snippet, .file(.video(), .audio()))
        let job = try #require(plan, "\(findings)")
        #expect(job.outputs.map(\.id) == ["web", "audio", "short"] && job.inputs.count == 2)
        #expect(job.outputs.map(\.input) == [0, 0, 1] && job.isValid)
        #expect(job.outputs.map(\.destination) == ["/jobs/web.mp4", "/jobs/audio.m4a", "/jobs/short.m4a"])
    }

    @Test func errorsOfAllOutputsAreReported() throws {
        let snippet = try JobSnippet(
            "outputs:", "  one: { tracks: [ { audio: 7, copy: true } ], destination: a.m4a }",
            "  two: { tracks: [ { video: 8, copy: true } ], destination: b.mp4 }", asset: "a.mp4", to: nil)
        let (plan, findings) = try decide(snippet, .file(.video(), .audio()))
        #expect(plan == nil && findings == ["no-such-track at 7", "no-such-track at 8"])
    }

    /// Truncated files are errors, unless what is left of them is processed.
    @Test func truncatedFilesAreErrors() throws {
        let source = SourceDescription.file(.video(), .audio()) { $0.missingBytes = 9 }
        let rule = "{ video: first, copy: true }"
        let (refused, findings) = try decide(JobSnippet(rule: rule), source)
        #expect(refused == nil && findings == ["source-unreadable at ./a.mp4"])
        let (kept, none) = try decide(JobSnippet(rule: rule, "on_damage: skip"), source)
        #expect(
            kept?.outputs.first?.notes.contains { $0.contains("9 bytes are missing") } == true && none == [])
    }
}
