import Diagnostics
import Dispatch
import FileSystem
import Foundation
import JobPlan
import JobRun
import JobSpec
import LibAV
import Locking
import Media
import TestSupport
import Testing

@testable import PlanWork

/// Tests cancellation, timeouts and retries at each stage of a job, with a performer that follows a script. Each job ends
/// with one outcome, and unpublished outputs leave no file.
@Suite(.serialized) struct RunCancellationTests {
    /// A performer that calls a function for each order, with the number of orders so far.
    private final class ScriptedPerformer: WorkPerformer {
        private let script: @Sendable (WorkOrder, Int) async -> WorkOutcome
        private let orders = Guarded(0)

        init(_ script: @escaping @Sendable (WorkOrder, Int) async -> WorkOutcome) { self.script = script }

        /// Number of orders so far.
        var count: Int { orders.withLock { $0 } }

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            let number = orders.withLock { orders in
                orders += 1
                return orders
            }
            return await script(order, number)
        }
    }

    /// A batch with its observer, and with the records as soon as it has ended.
    private struct Batch {
        let runner: BatchRunner
        let observer = RecordingObserver()
        let scratch: Scratch

        init(
            _ jobs: String, in scratch: Scratch, performer: any WorkPerformer,
            prober: any SourceProber = LocalProber(), cores: Int = 1, state: RunState? = nil,
            policy change: (inout RunPolicy) -> Void = { _ in }
        ) throws {
            let (file, sink) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
            let result = BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")])
            try #require(result.plan.refusals.isEmpty, "\(result.plan.refusals)")
            var policy = RunPolicy(budget: ResourceBudget(cores: cores, memory: 64 << 30))
            policy.freeSpace = { _ in nil }
            change(&policy)
            self.scratch = scratch
            runner = BatchRunner(
                plan: result.plan, files: result.files, policy: policy, state: state, performer: performer,
                prober: prober, observer: observer)
        }

        /// Runs the jobs. Checks that each has one record and one final event, and that only published outputs exist.
        func run(_ expected: Int = 1) async -> [JobRecord] {
            let records = await runner.run()
            #expect(records.count == expected)
            #expect(Set(records.map(\.id)).count == records.count, "\(records.map(\.id))")
            let finished = observer.recorded.filter { $0.hasPrefix("finished") }
            #expect(finished == records.map { "finished \($0.id)" })
            let published = records.flatMap { record -> [String] in
                if case .succeeded(let result) = record.outcome {
                    return result.outputs.compactMap {
                        $0.destination?.split(separator: "/").last.map(String.init)
                    }
                }
                return []
            }
            #expect(scratch.contents.filter { !$0.hasPrefix("kept") } == published.sorted())
            let seen = runner.snapshot()
            #expect(seen.running.isEmpty)
            return records
        }
    }

    private func job(_ id: String, _ more: String = "") -> String {
        "  \(id): { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(more) tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: \(id).wav }\n"
    }

    private static func finished(_ order: WorkOrder) -> WorkOutcome {
        .finished(WorkFindings(outputs: order.plan.outputs.map { _ in OutputFindings() }))
    }

    private static func transient(_ order: WorkOrder) -> WorkOutcome {
        .failed(JobFailure("the server is busy", at: order.plan.location, isTransient: true))
    }

    /// Waits until the task is cancelled.
    private static func untilCancelled() async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        continuation.finish()
    }

    /// Waits without regard to a cancellation.
    private static func pause(_ milliseconds: Int) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { @Sendable in
                continuation.resume()
            }
        }
    }

    private static func wait(_ condition: () -> Bool) async {
        for _ in 0..<2000 where !condition() { await pause(5) }
        #expect(condition(), "the stage wasn't reached")
    }

    private func isCancelled(_ record: JobRecord) -> Bool {
        if case .cancelled = record.outcome { true } else { false }
    }

    private func failure(_ record: JobRecord) -> JobFailure? {
        if case .failed(let failure) = record.outcome { failure } else { nil }
    }

    // MARK: Cancellation

    @Test func cancel_beforeTheRun_startsNoJob() async throws {
        let performer = ScriptedPerformer { order, _ in Self.finished(order) }
        let batch = try Batch(job("a") + job("b"), in: Scratch(), performer: performer)
        batch.runner.cancel()
        let records = await batch.run(2)
        #expect(records.allSatisfy(isCancelled) && records.allSatisfy { $0.begun == nil && $0.attempts == 0 })
        #expect(batch.observer.recorded == ["finished a", "finished b"] && performer.count == 0)
    }

    /// Files of an attempt whose work can't be interrupted are discarded at once, also those that are created later.
    @Test func abandon_beforeTheWork_createsNoFile() async throws {
        let scratch = try Scratch()
        let performer = ScriptedPerformer { order, _ in Self.finished(order) }
        let (file, _) = decode("version: 1\njobs:\n" + job("one"), directory: scratch.path)
        let jobFile = try #require(file)
        let plan = try #require(BatchPlanner.plan([jobFile]).plan.jobs.first)
        let executor = JobExecutor(
            plan: plan, records: nil, performer: performer, root: LocalProber().environment.root)
        executor.abandon()
        let outcome = await executor.run(onPublish: {})
        guard case .cancelled = outcome else { throw ProgramError(message: "\(outcome)") }
        #expect(performer.count == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == [])
    }

    @Test func cancel_duringWork_endsRunningAndWaitingJobs() async throws {
        let performer = ScriptedPerformer { _, _ in
            await Self.untilCancelled()
            return .cancelled
        }
        let batch = try Batch(job("a") + job("b"), in: Scratch(), performer: performer)
        async let records = batch.run(2)
        await Self.wait { performer.count == 1 }
        batch.runner.cancel()
        batch.runner.cancel()
        #expect(await records.allSatisfy(isCancelled))
        #expect(batch.observer.recorded == ["started a", "finished b", "finished a"] && performer.count == 1)
    }

    /// Work may finish although it was cancelled; its output isn't published.
    @Test func cancel_ofWorkThatFinishes_publishesNothing() async throws {
        let performer = ScriptedPerformer { order, _ in
            await Self.untilCancelled()
            return Self.finished(order)
        }
        let batch = try Batch(job("a"), in: Scratch(), performer: performer)
        async let records = batch.run()
        await Self.wait { performer.count == 1 }
        batch.runner.cancel()
        #expect(await records.allSatisfy(isCancelled))
        #expect(batch.observer.recorded == ["started a", "finished a"])
    }

    /// The cancellation arrives at various moments between the end of the work and the end of publishing.
    @Test func cancel_whilePublishing_hasOneOutcome() async throws {
        var outcomes: Set<String> = []
        for round in 0..<60 {
            let runner = Guarded<BatchRunner?>(nil)
            let performer = ScriptedPerformer { order, _ in
                let runner = runner.withLock { $0 }
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(round * 40)) { @Sendable in
                    runner?.cancel()
                }
                return Self.finished(order)
            }
            let batch = try Batch(job("a"), in: Scratch(), performer: performer)
            runner.withLock { $0 = batch.runner }
            let records = await batch.run()
            let first = try #require(records.first)
            #expect(isCancelled(first) || first.outcome.isSuccess, "\(first.outcome)")
            #expect(batch.observer.recorded == ["started a", "finished a"])
            outcomes.insert(isCancelled(first) ? "cancelled" : "published")
        }
        #expect(outcomes.contains("published"), "\(outcomes)")
    }

    /// Runs a job whose attempts fail with a transient error, and another one. Calls `stop` during the delay after the
    /// first attempt, which is 500 ms long.
    private func stopDuringRetryDelay(
        _ stop: @escaping @Sendable (BatchRunner?) -> Void
    ) async throws -> (records: [JobRecord], events: [String], attempts: Int) {
        let runner = Guarded<BatchRunner?>(nil)
        let performer = ScriptedPerformer { order, _ in
            Task { @Sendable in
                // A job that waits for its next attempt isn't among the running ones.
                while runner.withLock({ $0 })?.snapshot().running.isEmpty == false { await Task.yield() }
                stop(runner.withLock { $0 })
            }
            return Self.transient(order)
        }
        let batch = try Batch(
            job("a", "retries: 9, priority: 1,") + job("b"), in: Scratch(), performer: performer)
        runner.withLock { $0 = batch.runner }
        return (await batch.run(2), batch.observer.recorded, performer.count)
    }

    @Test func cancel_duringRetryDelay_startsNoAttempt() async throws {
        let result = try await stopDuringRetryDelay { $0?.cancel() }
        #expect(result.records.allSatisfy(isCancelled) && result.records.map(\.attempts) == [1, 0])
        #expect(result.records[0].seconds < 0.45, "the delay wasn't interrupted")
        #expect(result.events == ["started a", "finished a", "finished b"] && result.attempts == 1)
    }

    @Test func stop_duringRetryDelay_reportsTheFailure() async throws {
        let result = try await stopDuringRetryDelay { $0?.stopAdmitting() }
        #expect(failure(result.records[0])?.message == "the server is busy" && result.attempts == 1)
        #expect(result.events == ["started a", "finished a", "finished b"])
        guard case .notRun? = result.records.last?.outcome else {
            Issue.record("\(result.records)")
            return
        }
    }

    /// A prober that holds its probes until it is released.
    private final class HoldingProber: SourceProber {
        private let prober = LocalProber()
        private let path: String
        private let begun = Guarded(false)
        private let gate = DispatchSemaphore(value: 0)

        init(_ path: String) { self.path = path }

        var environment: SourceEnvironment { prober.environment }
        var trials: SettingsValidationCache { prober.trials }
        var isHolding: Bool { begun.withLock { $0 } }
        func release() { for _ in 0..<16 { gate.signal() } }

        func respond(to request: ProbeRequest) throws(SourceProblem) -> ProbeResponse {
            if request.path == path {
                begun.withLock { $0 = true }
                gate.wait()
            }
            return try prober.respond(to: request)
        }
    }

    /// The probe of the source can't be interrupted; the run ends before it does.
    @Test func cancel_whileReplanning_endsTheRun() async throws {
        let scratch = try Scratch()
        let local = LocalPerformer(MediaEnvironment())
        let performer = ScriptedPerformer { order, _ in await local.perform(order) }
        let prober = HoldingProber(scratch.file("a.wav"))
        let chained =
            "  b: { asset: { job: a }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: b.flac }\n"
        let batch = try Batch(
            job("a") + chained + job("c", "needs: b,"), in: scratch, performer: performer, prober: prober)
        async let records = batch.run(3)
        await Self.wait { prober.isHolding }
        #expect(batch.runner.snapshot().running.isEmpty)
        batch.runner.cancel()
        let ended = await records
        prober.release()
        #expect(ended.map(\.id) == ["a", "b", "c"] && ended.map { isCancelled($0) } == [false, true, true])
        #expect(ended[1].begun == nil && ended[1].attempts == 0 && performer.count == 1)
        #expect(
            batch.observer.recorded == ["started a", "finished a", "finished b", "finished c"])
    }

    // MARK: Timeout

    /// The timeout applies to the work, whether or not the work reacts to it.
    @Test(arguments: [false, true]) func timeout_duringWork_failsTheJob(_ finishes: Bool) async throws {
        let performer = ScriptedPerformer { order, _ in
            await Self.untilCancelled()
            return finishes ? Self.finished(order) : .cancelled
        }
        let batch = try Batch(job("a", "timeout: 100ms, retries: 3,"), in: Scratch(), performer: performer)
        let records = await batch.run()
        #expect(failure(records[0])?.rule == .jobTimeout && performer.count == 1)
        #expect(batch.observer.recorded == ["started a", "finished a"])
    }

    @Test func timeout_excludesPreviews() async throws {
        let performer = ScriptedPerformer { order, _ in
            order.onChecked(WorkFindings(outputs: []))
            await Self.pause(2500)
            return Task.isCancelled ? .cancelled : Self.finished(order)
        }
        let batch = try Batch(job("a", "timeout: 2s,"), in: Scratch(), performer: performer)
        #expect(await batch.run()[0].outcome.isSuccess)
    }

    /// Each attempt has its own timeout; the delay before it doesn't count.
    @Test func timeout_ofRetriedJob_appliesToEachAttempt() async throws {
        let performer = ScriptedPerformer { order, number in
            await Self.pause(1000)
            return Task.isCancelled ? .cancelled : number < 3 ? Self.transient(order) : Self.finished(order)
        }
        let batch = try Batch(job("a", "timeout: 2500ms, retries: 2,"), in: Scratch(), performer: performer)
        let records = await batch.run()
        #expect(records[0].outcome.isSuccess && records[0].attempts == 3 && performer.count == 3)
        #expect(batch.observer.recorded == ["started a", "finished a"])
    }

    @Test func timeout_ofCheck_failsTheJob() async throws {
        let performer = ScriptedPerformer { _, _ in
            await Self.untilCancelled()
            return .cancelled
        }
        let check = "  a: { asset: { pattern: smpte, duration: 1s }, check: true, timeout: 100ms }\n"
        let batch = try Batch(check, in: Scratch(), performer: performer)
        #expect(failure(await batch.run()[0])?.rule == .jobTimeout)
    }

    /// Expectations that have changed are evaluated on the existing output, which remains.
    @Test(arguments: [false, true]) func end_duringEvaluation_keepsTheOutput(_ isTimeout: Bool) async throws {
        let scratch = try Scratch()
        func batch(_ more: String, _ performer: any WorkPerformer) throws -> Batch {
            let yaml =
                "  a: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(more) tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: kept.wav }\n"
            return try Batch(
                yaml, in: scratch, performer: performer,
                state: RunState(isForced: false, environment: SourceEnvironment()))
        }
        let first = await (try batch("", LocalPerformer(MediaEnvironment()))).runner.run()
        #expect(first[0].outcome.isSuccess)
        let evaluates = Guarded(false)
        let performer = ScriptedPerformer { order, _ in
            evaluates.withLock { $0 = if case .evaluate = order.task { true } else { false } }
            await Self.untilCancelled()
            return .cancelled
        }
        let second = try batch(
            "expect: { duration: 1s }," + (isTimeout ? "timeout: 100ms," : ""), performer)
        async let records = second.run()
        if !isTimeout {
            await Self.wait { performer.count == 1 }
            second.runner.cancel()
        }
        let ended = await records
        #expect(isTimeout ? failure(ended[0])?.rule == .jobTimeout : isCancelled(ended[0]))
        #expect(evaluates.withLock { $0 } && scratch.contents == ["kept.wav"])
    }

    // MARK: Failures

    /// After a failed expectation the job's processors aren't returned to the budget before it has ended.
    @Test func failFast_afterFailedExpectation_startsNoJob() async throws {
        let local = LocalPerformer(MediaEnvironment())
        let performer = ScriptedPerformer { order, _ in await local.perform(order) }
        let batch = try Batch(
            job("a", "priority: 1, expect: { loudness: { true_peak: { max: -60 } } },") + job("b"),
            in: Scratch(), performer: performer
        ) { $0.failsFast = true }
        let records = await batch.run(2)
        #expect(failure(records[0])?.rule == .expectationFailed && performer.count == 1)
        #expect(batch.observer.recorded == ["started a", "finished a", "finished b"])
    }

    /// Many jobs end at a cancellation, without a task for each.
    @Test func cancel_ofManyJobs_isFast() async throws {
        let performer = ScriptedPerformer { _, _ in
            await Self.untilCancelled()
            return .cancelled
        }
        let jobs = (0..<1000).map { job("j\($0)") }.joined()
        let batch = try Batch(jobs, in: Scratch(), performer: performer)
        async let records = batch.run(1000)
        await Self.wait { performer.count == 1 }
        let begun = DispatchTime.now()
        batch.runner.cancel()
        #expect(await records.allSatisfy(isCancelled))
        #expect(DispatchTime.now() < begun + 5)
    }
}
