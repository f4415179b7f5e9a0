import Diagnostics
import Engine
import FileSystem
import JobPlan
import JobRun
import LibAV
import Media
import TestSupport
import Testing

/// The stages of `plan` and `explain`, without worker processes.
@Suite struct DryRunTests {
    private func plan(_ jobs: String, only: String...) throws -> DryRun.Result {
        let scratch = try Scratch()
        let path = try scratch.write("version: 1\njobs:\n\(jobs)\n", to: "jobs.yaml")
        let set = JobFileSet(
            files: [path], variables: [:],
            access: SourceAccess(sources: SourceEnvironment(), isUntrusted: false))
        var workers = WorkerSettings(notify: { _ in })
        workers.usesWorkers = false
        let state = StateLocation(folder: scratch.file("state"), mode: .stat, notify: { _ in })
        return try DryRun(of: set, Pipeline.Strictness(), state: state, workers: workers).plan(
            only: only, from: "jobs.yaml")
    }

    private static let source = "asset: { pattern: smpte, size: 64x48, frame_rate: 25, duration: 1s }"
    private static let rule = "tracks: [ { video: first, encode: { codec: h264 } } ]"

    @Test func jobsArePlannedAndComparedWithTheState() throws {
        let result = try plan(
            "  a: { \(Self.source), \(Self.rule), destination: a.mkv }\n  b: { \(Self.source), \(Self.rule), destination: b.mkv }",
            only: "b")
        let job = try #require(result.planned.plan.jobs.first)
        #expect(result.planned.plan.jobs.count == 1 && job.id == "b")
        #expect(try result.forecast.reasons(for: #require(job.tasks.first)).lines == ["no output yet"])
        #expect(result.forecast.work(of: job) == JobCost(job).work)
    }

    /// Errors of the file and of its settings end the stages; an unknown job is an error at the argument.
    @Test func errorsEndTheStages() throws {
        #expect(throws: Pipeline.Rejection.self) {
            _ = try plan("  a: { \(Self.source), \(Self.rule), destination: a.mkv, nope: 1 }")
        }
        let result = try plan("  a: { \(Self.source), \(Self.rule), destination: a.mkv }", only: "z")
        #expect(result.planned.diagnostics.diagnostics.map(\.range.file) == ["jobs.yaml"])
    }
}
