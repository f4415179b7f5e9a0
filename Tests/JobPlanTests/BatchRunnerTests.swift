import Diagnostics
import Dispatch
import JobPlan
import JobRun
import JobSpec
import Synchronization
import TestSupport
import Testing

/// When jobs start, with work that does nothing: order, processors, memory, room on the disk.
@Suite struct BatchRunnerTests {
    /// Takes a moment over every job, and remembers how many it had at once.
    private final class Idler: WorkPerformer {
        private final class Handle: WorkHandle {
            func cancel() {}
            var progress: WorkProgress { WorkProgress() }
        }
        let running = Atomic<Int>(0)
        let most = Atomic<Int>(0)

        func perform(
            _ order: WorkOrder, completion: @escaping @Sendable (WorkOutcome) -> Void
        ) -> any WorkHandle {
            most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { @Sendable in
                self.running.subtract(1, ordering: .relaxed)
                completion(.cancelled)
            }
            return Handle()
        }
    }

    private func run(
        _ jobs: String, budget: ResourceBudget, space: Int64? = nil, in scratch: Scratch
    ) async throws -> (records: [JobRecord], most: Int, order: [String]) {
        let (file, sink) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let result = Planner.plan([try #require(file, "\(sink.diagnostics)")])
        #expect(result.plan.refusals.isEmpty, "\(result.plan.refusals)")
        var policy = RunPolicy(budget: budget)
        if let space { policy.space = { _ in RunPolicy.FreeSpace(fileSystem: 1, bytes: space) } }
        let (idler, recorder) = (Idler(), Recorder())
        let records = await BatchRunner(
            plan: result.plan, files: result.files, policy: policy, performer: idler, observer: recorder
        ).run()
        let order = recorder.heard.filter { $0.hasPrefix("started") }.map { String($0.dropFirst(8)) }
        return (records, idler.most.load(ordering: .relaxed), order)
    }

    private func sound(_ id: String, seconds: Int = 10, more: String = "") -> String {
        "  \(id): { asset: { pattern: smpte, duration: \(seconds)s, tone: 1kHz }, \(more) tracks: [ { audio: first, encode: { codec: pcm_s16le } } ], destination: \(id).wav }\n"
    }

    private func pictures(_ id: String, size: String) -> String {
        "  \(id): { asset: { pattern: smpte, size: \(size), duration: 10s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: \(id).mp4 }\n"
    }

    private func budget(cores: Int, memory: Int64 = 64 << 30, jobs: Int? = nil) -> ResourceBudget {
        ResourceBudget(cores: cores, memory: memory, jobs: jobs)
    }

    @Test func processorsAreFullAndNotMore() async throws {
        let scratch = try Scratch()
        let small = (0..<8).map { pictures("small\($0)", size: "320x180") }.joined()
        #expect(try await run(small, budget: budget(cores: 4), in: scratch).most == 4)
        // A picture of 1080p keeps nine processors busy.
        let large = (0..<4).map { pictures("large\($0)", size: "1920x1080") }.joined()
        #expect(try await run(large, budget: budget(cores: 4), in: scratch).most == 1)
        #expect(try await run(large, budget: budget(cores: 4, jobs: 3), in: scratch).most == 3)
        #expect(try await run(large, budget: budget(cores: 18), in: scratch).most == 2)
    }

    @Test func memoryBoundsWhatRunsAtOnce() async throws {
        let scratch = try Scratch()
        let jobs = (0..<4).map { pictures("large\($0)", size: "1920x1080") }.joined()
        let two = try await run(jobs, budget: budget(cores: 99, memory: 1000 << 20), in: scratch)
        #expect(two.most == 2 && two.records.count == 4)
        // One that fits nowhere runs alone.
        #expect(try await run(jobs, budget: budget(cores: 99, memory: 1), in: scratch).most == 1)
    }

    @Test func thereMustBeRoomForAllThatRuns() async throws {
        let scratch = try Scratch()
        let jobs = (0..<4).map { sound("s\($0)") }.joined()
        let size = Int64(10 * 48_000 * 2)
        #expect(try await run(jobs, budget: budget(cores: 9), space: size * 9 / 2, in: scratch).most == 4)
        let tight = try await run(jobs, budget: budget(cores: 9), space: size * 3 / 2, in: scratch)
        #expect(tight.most == 1 && tight.order.count == 4)
        let none = try await run(
            jobs + sound("short", seconds: 1), budget: budget(cores: 9), space: size / 2, in: scratch)
        #expect(none.order == ["short"])
        let failures = none.records.compactMap { record -> JobFailure? in
            if case .failed(let failure) = record.outcome { failure } else { nil }
        }
        #expect(failures.count == 4 && failures.allSatisfy { $0.rule == .lowSpace })
        #expect(failures.first?.message.contains("are free at") == true)
    }

    /// An output that is there needs no more room.
    @Test func whatIsUpToDateNeedsNoRoom() async throws {
        let scratch = try Scratch()
        let (file, _) = decode("version: 1\njobs:\n" + sound("s"), directory: scratch.path)
        let result = Planner.plan([try #require(file)])
        var policy = RunPolicy(budget: budget(cores: 1))
        for space in [nil, 1] as [Int64?] {
            if let space { policy.space = { _ in RunPolicy.FreeSpace(fileSystem: 1, bytes: space) } }
            let records = await BatchRunner(
                plan: result.plan, files: result.files, policy: policy, state: RunState(isForced: false),
                observer: Recorder()
            ).run()
            #expect(records.map(\.outcome.isSuccess) == [true])
            #expect(records.first?.outcome.isUpToDate == (space != nil))
        }
    }

    @Test func priorityThenTheLongest() async throws {
        let scratch = try Scratch()
        let jobs =
            sound("short", seconds: 1) + sound("long", seconds: 60)
            + sound("urgent", seconds: 1, more: "priority: 1,")
            + sound("last", seconds: 90, more: "priority: -1,") + sound("middle", seconds: 10)
        let result = try await run(jobs, budget: budget(cores: 1), in: scratch)
        #expect(result.order == ["urgent", "long", "middle", "short", "last"])
    }

    @Test func partsOfAPlanWeighTheSame() throws {
        let scratch = try Scratch()
        let jobs =
            (1...40).map { sound("s\($0)", seconds: $0) }.joined() + sound("needs", more: "needs: [s1, s40],")
        let (file, _) = decode("version: 1\njobs:\n" + jobs, directory: scratch.path)
        let plan = Planner.plan([try #require(file)]).plan
        let parts = ShardPlanner.split(plan, into: 4)
        #expect(parts.flatMap { $0 }.sorted() == Array(plan.jobs.indices))
        let loads = parts.map { $0.reduce(0) { $0 + JobCost(plan.jobs[$1]).work } }
        #expect((loads.max() ?? 0) < 1.1 * (loads.min() ?? 0), "\(loads)")
        let together =
            parts.first { $0.contains { plan.jobs[$0].id == "needs" } }?.map { plan.jobs[$0].id } ?? []
        #expect(Set(together).isSuperset(of: ["s1", "s40"]))
        #expect(ShardPlanner.split(plan, into: 99).count == 99)
    }
}
