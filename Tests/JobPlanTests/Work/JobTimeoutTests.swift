import Diagnostics
import Dispatch
import JobSpec
import Testing

@testable import JobPlan
@testable import PlanWork

/// The timeout of a job.
@Suite struct JobTimeoutTests {
    private func plan(_ keys: String) throws -> JobPlan {
        let snippet = try JobSnippet(rule: "{ video: first, copy: true }", keys)
        return JobPlan(
            id: "one", base: "one", needs: [], file: "jobs.yaml", location: snippet.job.id.range,
            inputs: [], outputs: [], scheduling: snippet.job.scheduling)
    }

    @Test func expiredTimeout_isAFailure() throws {
        let plan = try plan("timeout: 10s")
        var timeout = JobTimeout(of: plan)
        #expect(timeout.failure == nil)
        timeout.expire()
        #expect(timeout.failure?.message == "the job exceeded its timeout of 10 s")
        #expect(timeout.failure?.rule == .jobTimeout && timeout.failure?.location == plan.location)
    }

    @Test func jobWithoutTimeout_hasNoFailure() throws {
        var timeout = JobTimeout(of: try plan(""))
        timeout.expire()
        #expect(timeout.failure == nil)
    }

    @Test func timer_callsOnce() async throws {
        let plan = try plan("timeout: 10ms")
        let queue = DispatchQueue(label: "test")
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        var timeout = JobTimeout(of: plan)
        timeout.start(on: queue) { @Sendable in
            dispatchPrecondition(condition: .onQueue(queue))
            continuation.finish()
        }
        for await _ in stream {}
        timeout.stop()
    }
}
