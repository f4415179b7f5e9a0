import Foundation
import Diagnostics
import Dispatch
import JobPlan
import JobRun
import JobSpec
import Locking
import TestSupport
import Testing
import LibAV
import Media

/// Tests the scheduling of jobs by order, processors, memory and free space. The performer does no work.
@Suite struct BatchRunnerTests {
    /// A performer that completes its jobs only once the expected number is in flight, and slightly later, so that
    /// surplus jobs are counted.
    private final class Idler: WorkPerformer {
        private struct Jobs: Sendable {
            var held: [CheckedContinuation<Void, Never>] = []
            var begun = 0
            var most = 0
        }
        private let jobs = Guarded(Jobs())
        private let atOnce: Int
        private let all: Int
        /// Ids of the jobs for which the performer is prepared; nil for all.
        private let suiting: Set<String>?

        init(atOnce: Int, of all: Int, suiting: Set<String>?) {
            self.atOnce = atOnce
            self.all = all
            self.suiting = suiting
        }

        /// Maximum number of jobs in flight.
        var most: Int { jobs.withLock { $0.most } }

        func isPrepared(for job: JobPlan) -> Bool { suiting?.contains(job.id) ?? true }

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            await withCheckedContinuation { continuation in
                let isEnough = jobs.withLock { jobs in
                    jobs.held.append(continuation)
                    jobs.begun += 1
                    jobs.most = max(jobs.most, jobs.held.count)
                    return jobs.held.count >= atOnce || jobs.begun == all
                }
                // If too few jobs arrive, they are completed after 20 s, and counted.
                DispatchQueue.global().asyncAfter(deadline: .now() + (isEnough ? 0.05 : 20)) { @Sendable in
                    for held in self.jobs.withLock({ jobs in
                        defer { jobs.held = [] }
                        return jobs.held
                    }) { held.resume() }
                }
            }
            return .cancelled
        }
    }

    /// Runs jobs. `atOnce` is the expected number of concurrent jobs, `most` the observed maximum.
    private func run(
        _ jobs: String, budget: ResourceBudget, atOnce: Int = 1, space: Int64? = nil,
        suiting: Set<String>? = nil, in scratch: Scratch
    ) async throws -> (records: [JobRecord], most: Int, order: [String]) {
        let (file, sink) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")])
        #expect(result.plan.refusals.isEmpty, "\(result.plan.refusals)")
        var policy = RunPolicy(budget: budget)
        if let space { policy.freeSpace = { _ in RunPolicy.FreeSpace(fileSystem: 1, bytes: space) } }
        let recorder = RecordingObserver()
        let idler = Idler(atOnce: atOnce, of: result.plan.jobs.count, suiting: suiting)
        let records = await BatchRunner(
            plan: result.plan, files: result.files, policy: policy, performer: idler, prober: LocalProber(),
            observer: recorder
        ).run()
        let order = recorder.recorded.filter { $0.hasPrefix("started") }.map { String($0.dropFirst(8)) }
        return (records, idler.most, order)
    }

    private func audio(_ id: String, seconds: Int = 10, more: String = "") -> String {
        "  \(id): { asset: { pattern: smpte, duration: \(seconds)s, tone: 1kHz }, \(more) tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: \(id).wav }\n"
    }

    private func frames(_ id: String, size: String) -> String {
        "  \(id): { asset: { pattern: smpte, size: \(size), duration: 10s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: \(id).mp4 }\n"
    }

    private func budget(cores: Int, memory: Int64 = 64 << 30, jobs: Int? = nil) -> ResourceBudget {
        ResourceBudget(cores: cores, memory: memory, jobs: jobs)
    }

    @Test func concurrentJobsFillTheProcessorsAndNoMore() async throws {
        let scratch = try Scratch()
        let small = (0..<8).map { frames("small\($0)", size: "320x180") }.joined()
        #expect(try await run(small, budget: budget(cores: 4), atOnce: 4, in: scratch).most == 4)
        // A 1080p encode keeps nine processors busy.
        let large = (0..<4).map { frames("large\($0)", size: "1920x1080") }.joined()
        #expect(try await run(large, budget: budget(cores: 4), in: scratch).most == 1)
        #expect(try await run(large, budget: budget(cores: 4, jobs: 3), atOnce: 3, in: scratch).most == 3)
        #expect(try await run(large, budget: budget(cores: 18), atOnce: 2, in: scratch).most == 2)
    }

    /// A job that runs alone may divide its work among the processors.
    @Test func onlyJobsThatRunAloneHaveAllProcessors() async throws {
        let scratch = try Scratch()
        let two = audio("a") + audio("b", more: "needs: a,")
        #expect(try await sharing(two, budget(cores: 4), in: scratch) == ["a": true])
        #expect(
            try await sharing(audio("a") + audio("b"), budget(cores: 4, jobs: 1), in: scratch) == [
                "a": false, "b": false,
            ])
        #expect(try await sharing(audio("a"), budget(cores: 4), in: scratch) == ["a": false])
        #expect(
            try await sharing(audio("a") + audio("b"), budget(cores: 1), in: scratch) == [
                "a": true, "b": false,
            ])
    }

    /// Returns whether each started job shares the processors.
    private func sharing(
        _ jobs: String, _ budget: ResourceBudget, in scratch: Scratch
    ) async throws -> [String: Bool] {
        let (file, sink) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")])
        let witness = SharingWitness()
        _ = await BatchRunner(
            plan: result.plan, files: result.files, policy: RunPolicy(budget: budget), performer: witness,
            prober: LocalProber(), observer: RecordingObserver()
        ).run()
        return witness.sharing.withLock { $0 }
    }

    /// A performer that records which orders share the processors, and fails each job.
    private final class SharingWitness: WorkPerformer {
        let sharing = Guarded<[String: Bool]>([:])

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            sharing.withLock { $0[order.plan.id] = order.sharesProcessors }
            return .cancelled
        }
    }

    /// A performer that completes its jobs only when `letGo()` is called.
    private final class Holder: WorkPerformer {
        private let held = Guarded<[CheckedContinuation<Void, Never>]>([])

        var count: Int { held.withLock { $0.count } }

        func letGo() {
            for continuation in held.withLock({ $0 }) { continuation.resume() }
        }

        nonisolated(nonsending) func perform(_ order: WorkOrder) async -> WorkOutcome {
            await withCheckedContinuation { continuation in held.withLock { $0.append(continuation) } }
            return .cancelled
        }
    }

    /// After the first interrupt, jobs that won't start aren't counted as finished while another job runs.
    @Test func jobsThatNeverStartAreNotCountedAsFinished() async throws {
        let scratch = try Scratch()
        let (file, _) = decode(
            "version: 1\njobs:\n" + (0..<4).map { audio("j\($0)") }.joined(), directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        let holder = Holder()
        let runner = BatchRunner(
            plan: result.plan, files: result.files, policy: RunPolicy(budget: budget(cores: 1)),
            performer: holder, prober: LocalProber(), observer: RecordingObserver())
        async let records = runner.run()
        while holder.count < 1 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(runner.snapshot().finished == 0)
        runner.stopAdmitting()
        let seen = runner.snapshot()
        #expect(seen.finished == 0 && seen.total == 4 && seen.running.count == 1)
        holder.letGo()
        #expect(await records.count == 4)
        #expect(runner.snapshot().finished == 1)
    }

    /// Among jobs of similar cost, one whose source an idle worker has opened starts first; jobs of much higher cost or
    /// higher priority precede it.
    @Test func jobsWithAPreparedWorkerStartFirst() async throws {
        let scratch = try Scratch()
        let equals = (0..<5).map { audio("j\($0)") }.joined()
        let one = budget(cores: 1)
        #expect(
            try await run(equals, budget: one, suiting: ["j3"], in: scratch).order == [
                "j3", "j0", "j1", "j2", "j4",
            ])
        #expect(
            try await run(equals, budget: one, suiting: [], in: scratch).order == [
                "j0", "j1", "j2", "j3", "j4",
            ])
        let longer = audio("long", seconds: 60) + audio("urgent", more: "priority: 1,") + equals
        #expect(
            try await run(longer, budget: one, suiting: ["j3"], in: scratch).order.prefix(3)
                == ["urgent", "long", "j3"])
    }

    /// Publishing uses no processor, but the number of concurrently published outputs is limited.
    @Test func publishingFreesTheProcessorWithinALimit() async throws {
        let scratch = try Scratch()
        let (file, _) = decode("version: 1\njobs:\n" + audio("a"), directory: scratch.path)
        let parsed = try #require(file)
        let plan = try #require(BatchPlanner.plan([parsed]).plan.jobs.first)
        let cost = JobCost(plan)
        var budget = budget(cores: 2)
        for _ in 0..<2 {
            #expect(budget.admits(cost))
            budget.reserve(cost)
        }
        #expect(!budget.admits(cost))
        budget.wait(cost, for: true)
        #expect(budget.admits(cost))
        budget.reserve(cost)
        budget.wait(cost, for: true)
        budget.reserve(cost)
        #expect(!budget.admits(cost))
        budget.release(cost, afterWaiting: true)
        #expect(!budget.admits(cost))
        budget.release(cost)
        #expect(budget.admits(cost))
    }

    @Test func memoryLimitsConcurrentJobs() async throws {
        let scratch = try Scratch()
        let jobs = (0..<4).map { frames("large\($0)", size: "1920x1080") }.joined()
        let two = try await run(jobs, budget: budget(cores: 99, memory: 1000 << 20), atOnce: 2, in: scratch)
        #expect(two.most == 2 && two.records.count == 4)
        // A job that exceeds the memory runs alone.
        #expect(try await run(jobs, budget: budget(cores: 99, memory: 1), in: scratch).most == 1)
    }

    @Test func freeSpaceLimitsConcurrentJobs() async throws {
        let scratch = try Scratch()
        let jobs = (0..<4).map { audio("s\($0)") }.joined()
        let size = Int64(10 * 48_000 * 2)
        #expect(
            try await run(jobs, budget: budget(cores: 9), atOnce: 4, space: size * 9 / 2, in: scratch).most
                == 4)
        let tight = try await run(jobs, budget: budget(cores: 9), space: size * 3 / 2, in: scratch)
        #expect(tight.most == 1 && tight.order.count == 4)
        let none = try await run(
            jobs + audio("short", seconds: 1), budget: budget(cores: 9), space: size / 2, in: scratch)
        #expect(none.order == ["short"])
        let failures = none.records.compactMap { record -> JobFailure? in
            if case .failed(let failure) = record.outcome { failure } else { nil }
        }
        #expect(failures.count == 4 && failures.allSatisfy { $0.rule == .lowSpace })
        #expect(failures.first?.message.contains("are free at") == true)
    }

    /// Runs a plan with the state of the earlier runs.
    private func run(_ planned: BatchPlanner.Result, _ policy: RunPolicy) async -> [JobRecord] {
        await BatchRunner(
            plan: planned.plan, files: planned.files, policy: policy,
            state: RunState(isForced: false, environment: SourceEnvironment()),
            performer: LocalPerformer(MediaEnvironment()), prober: LocalProber(),
            observer: RecordingObserver()
        ).run()
    }

    /// Up-to-date outputs require no free space.
    @Test func upToDateJobsRequireNoFreeSpace() async throws {
        let scratch = try Scratch()
        let (file, _) = decode("version: 1\njobs:\n" + audio("s"), directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        var policy = RunPolicy(budget: budget(cores: 1))
        for space in [nil, 1] as [Int64?] {
            if let space { policy.freeSpace = { _ in RunPolicy.FreeSpace(fileSystem: 1, bytes: space) } }
            let records = await run(result, policy)
            #expect(records.map(\.outcome.isSuccess) == [true])
            #expect(records.first?.outcome.isUpToDate == (space != nil))
        }
    }

    /// Only outputs that are created require free space, not the job's other outputs.
    @Test func onlyMissingOutputsRequireFreeSpace() async throws {
        let scratch = try Scratch()
        let jobs = """
              two:
                asset: { pattern: testsrc, size: 320x180, duration: 2s, tone: 1kHz }
                outputs:
                  large: { tracks: [ { video: first, encode: { codec: ffv1 } } ], destination: large.mkv }
                  small: { tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: small.wav }
            """
        let (file, _) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        let sizes = try #require(result.plan.jobs.first).outputs.compactMap(\.expectedSize)
        try #require(sizes.count == 2 && sizes[0] > 2 * sizes[1])
        var policy = RunPolicy(budget: budget(cores: 1))
        for space in [nil, sizes[1] + 1000] as [Int64?] {
            if let space { policy.freeSpace = { _ in RunPolicy.FreeSpace(fileSystem: 1, bytes: space) } }
            let records = await run(result, policy)
            let produced = try success(records).outputs.map(\.id)
            #expect(produced == (space == nil ? ["large", "small"] : ["small"]))
            try FileManager.default.removeItem(atPath: scratch.file("small.wav"))
        }
    }

    /// Pass files of two-pass encodes require free space on their own file system.
    @Test(arguments: [(nil, true), (Int64(1) << 40, true), (Int64(10_000), false)])
    func passFilesRequireFreeSpace(_ free: Int64?, _ fits: Bool) async throws {
        let scratch = try Scratch()
        let jobs = """
              two: { asset: { pattern: testsrc, size: 320x180, duration: 10s }, tracks: [ { video: first, encode: { codec: h264, bitrate: 100k, passes: 2 } } ], destination: two.mp4 }
            """
        let (file, _) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let result = BatchPlanner.plan([try #require(file)])
        var policy = RunPolicy(budget: budget(cores: 1))
        policy.passStatisticsFolder = "/notes"
        policy.freeSpace = { path in
            path.hasPrefix("/notes/") ? free.map { RunPolicy.FreeSpace(fileSystem: 2, bytes: $0) } : nil
        }
        let records = await BatchRunner(
            plan: result.plan, files: result.files, policy: policy,
            performer: Idler(atOnce: 1, of: 1, suiting: nil),
            prober: LocalProber(), observer: RecordingObserver()
        ).run()
        // The performer reports jobs as cancelled, which proves that they were started.
        guard case .failed(let failure)? = records.first?.outcome else { return #expect(fits) }
        #expect(
            !fits && failure.rule == .lowSpace && failure.message.contains("free in /notes"), "\(failure)")
    }

    @Test func jobsStartByPriorityThenByLength() async throws {
        let scratch = try Scratch()
        let jobs =
            audio("short", seconds: 1) + audio("long", seconds: 60)
            + audio("urgent", seconds: 1, more: "priority: 1,")
            + audio("last", seconds: 90, more: "priority: -1,") + audio("middle", seconds: 10)
        let result = try await run(jobs, budget: budget(cores: 1), in: scratch)
        #expect(result.order == ["urgent", "long", "middle", "short", "last"])
    }

    @Test func shardsHaveEqualCost() throws {
        let scratch = try Scratch()
        let jobs =
            (1...40).map { audio("s\($0)", seconds: $0) }.joined() + audio("needs", more: "needs: [s1, s40],")
        let (file, _) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let plan = BatchPlanner.plan([try #require(file)]).plan
        let parts = ShardPlanner.layout(plan, into: 4).others
        #expect(parts.flatMap { $0 }.sorted() == Array(plan.jobs.indices))
        let loads = parts.map { $0.reduce(0) { $0 + JobCost(plan.jobs[$1]).work } }
        #expect((loads.max() ?? 0) < 1.1 * (loads.min() ?? 0), "\(loads)")
        let together =
            parts.first { $0.contains { plan.jobs[$0].id == "needs" } }?.map { plan.jobs[$0].id } ?? []
        #expect(Set(together).isSuperset(of: ["s1", "s40"]))
        #expect(ShardPlanner.layout(plan, into: 99).others.count == 99)
    }
}
