import Diagnostics
import TestSupport
import Testing

@testable import JobPlan
@testable import Media
@testable import PlanWork

/// Attempts at a check, with a performer that has an outcome by value.
@Suite struct CheckAttemptTests {
    private struct FixedPerformer: WorkPerformer {
        let outcome: WorkOutcome

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            #expect(order.outputs.isEmpty && order.scratch == nil)
            return outcome
        }
    }

    private let plan: JobPlan
    private let digest: PlanDigest

    init() throws {
        let text = """
            version: 1
            jobs:
              c:
                asset: { pattern: testsrc, size: 64x48, frame_rate: 25, duration: 2s }
                check: true
                expect: { duration: { is: 2s, within: 1ms } }
            """
        let (file, sink) = decode(text, directory: "/")
        try #require(!sink.hasErrors, "\(rendered(sink, text))")
        let result = BatchPlanner.plan([try #require(file)])
        plan = try #require(result.plan.jobs.first, "\(result.diagnostics.diagnostics)")
        digest = try PlanDigest(plan.tasks[0])
    }

    private func records(_ relation: PlanDigest.Relation) -> FakeRecords {
        FakeRecords(relations: ["c": (digest, relation)])
    }

    private func attempt(_ records: FakeRecords?) -> CheckAttempt {
        CheckAttempt(plan.tasks[0], of: plan, records: records)
    }

    private func findings(holds: Bool) throws -> WorkFindings {
        let expectation = try #require(plan.outputs[0].expectations.first)
        return WorkFindings(outputs: [
            OutputFindings(
                tracks: [TrackReport(samples: 50, end: s(2), damage: DamageTally.Count())],
                expectations: [ExpectationResult(expectation: expectation, measured: "1 s", holds: holds)])
        ])
    }

    private func run(_ outcome: WorkOutcome, _ records: FakeRecords?) async throws -> JobResult {
        try await attempt(records).run(by: FixedPerformer(outcome: outcome), WorkMonitor()) { 3 }
    }

    @Test func passedCheck_isUpToDate() {
        let current = records(.current)
        #expect(attempt(current).recordIfUpToDate() && current.recorded == ["passed c"])
        let other = records(.other)
        #expect(!attempt(other).recordIfUpToDate() && other.recorded == [])
        #expect(!attempt(nil).recordIfUpToDate())
    }

    @Test func run_recordsAPass() async throws {
        let records = records(.other)
        let result = try await run(.finished(findings(holds: true)), records)
        #expect(records.recorded == ["passed c"])
        #expect(result.seconds == 3 && result.outputs.map(\.duration) == [s(2)])
        #expect(result.outputs.map(\.output) == [digest.value.text])
    }

    @Test func run_withoutRecords_hasNoDigest() async throws {
        let result = try await run(.finished(findings(holds: true)), nil)
        #expect(result.outputs.map(\.output) == [""])
    }

    @Test func run_throwsTheFailure() async throws {
        let records = records(.other)
        let unmet = WorkOutcome.finished(try findings(holds: false))
        let failure = await #expect(throws: JobFailure.self) { try await run(unmet, records) }
        #expect(failure?.rule == .expectationFailed && failure?.keptNotes == [:])
        #expect(failure?.message == "expected duration 2 s ± 0.001 s, measured 1 s")
        await #expect(throws: CancellationError.self) { try await run(.cancelled, records) }
        let broken = JobFailure("broken", at: plan.location, rule: nil)
        let other = await #expect(throws: JobFailure.self) { try await run(.failed(broken), records) }
        #expect(other?.message == "broken")
        let none = WorkOutcome.finished(WorkFindings(outputs: []))
        await #expect(throws: (any Error).self) { try await run(none, records) }
        #expect(records.recorded == [])
        attempt(records).recordFailure()
        #expect(records.recorded == ["failed c"])
    }
}
