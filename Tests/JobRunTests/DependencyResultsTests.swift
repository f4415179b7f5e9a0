import Diagnostics
import JobPlan
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Consequences of the results of jobs for those that depend on them.
@Suite struct DependencyResultsTests {
    private func plan(_ more: String) throws -> BatchPlan {
        let tail = "tracks: [ { audio: first, encode: { codec: flac } } ]"
        let (file, sink) = decode(
            """
            version: 1
            jobs:
              one: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, matrix: { n: [1, 2] }, \(tail), destination: "${matrix.n}.flac" }
              two: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(tail), destination: two.flac }
              last: { \(more), \(tail), destination: last.flac }
            """, directory: "/nowhere")
        return BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).plan
    }

    /// Returns the reasons why the job `last` is blocked or skipped, after jobs have ended with outcomes by id.
    private func reasons(
        _ plan: BatchPlan, _ outcomes: KeyValuePairs<String, JobOutcome>
    ) throws -> (blocked: String?, skipped: String?, results: DependencyResults) {
        var results = DependencyResults(plan)
        for (id, outcome) in outcomes {
            let job = try #require(plan.jobs.first { $0.id == id })
            results.record(outcome, of: job)
        }
        let last = try #require(plan.jobs.first { $0.id == "last" })
        return (results.blockingReason(for: last), results.missingSource(of: last), results)
    }

    @Test func aNeededJobMustSucceedInAllInstances() throws {
        let plan = try plan("asset: { pattern: smpte, duration: 1s, tone: 1kHz }, needs: [one]")
        let one = plan.jobs.filter { $0.base == "one" }.map(\.id)
        #expect(one.count == 2)
        #expect(try reasons(plan, [one[0]: .upToDate, one[1]: .upToDate]).blocked == nil)
        #expect(
            try reasons(plan, [one[0]: .upToDate, one[1]: .cancelled]).blocked
                == "the job `one`, which it needs, did not succeed")
        // A needed job without output is no failure.
        let skipped = try reasons(plan, [one[0]: .skipped("no audio"), one[1]: .declined("larger")])
        #expect(skipped.blocked == nil && skipped.skipped == nil)
    }

    @Test func aReadJobMustHaveAnOutput() throws {
        let plan = try plan("asset: { job: two }")
        let failed = try reasons(
            plan, ["two": .failed(JobFailure("broken", at: .startOfFile("j.yaml"), rule: nil))])
        #expect(failed.blocked == "the job `two`, whose output it reads, did not succeed")
        for outcome in [JobOutcome.skipped("no audio"), .declined("larger")] {
            let result = try reasons(plan, ["two": outcome])
            #expect(result.blocked == nil)
            #expect(result.skipped == "the job `two`, whose output it reads, has no output")
        }
        let done = try reasons(plan, ["two": .upToDate])
        #expect(done.blocked == nil && done.skipped == nil)
    }

    @Test func aNeededJobWithoutInstanceBlocks() throws {
        var plan = try plan("asset: { pattern: smpte, duration: 1s, tone: 1kHz }, needs: [one]")
        plan.jobs.removeAll { $0.base == "one" }
        #expect(try reasons(plan, [:]).blocked == "the job `one`, which it needs, has no instance")
    }

    @Test func jobsThatWereNotStartedAreNotFinished() throws {
        let plan = try plan("asset: { job: two }")
        let results = try reasons(plan, ["two": .notRun("interrupted"), "last": .upToDate]).results
        #expect(results.count == 2 && results.finishedCount == 1)
    }
}
