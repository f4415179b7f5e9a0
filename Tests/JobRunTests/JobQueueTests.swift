import Diagnostics
import Foundation
import JobPlan
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork

/// Jobs without open dependencies are ordered by priority, then by cost, then by their order in the file.
@Suite struct JobQueueTests {
    private func plan(_ jobs: [(id: String, more: String)]) throws -> BatchPlan {
        let lines = jobs.map { job in
            "  \(job.id): { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(job.more) tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(job.id).flac }"
        }
        let (file, sink) = decode(
            "version: 1\njobs:\n" + lines.joined(separator: "\n"), directory: "/nowhere")
        return BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).plan
    }

    /// Returns the ids in starting order, if each job ends before the next one starts.
    private func order(_ plan: BatchPlan, work: @escaping (String) -> Double = { _ in 1 }) -> [String] {
        var queue = JobQueue(plan) { work($0.id) }
        var order: [String] = []
        while let next = queue.next {
            queue.takeNext()
            order.append(plan.jobs[next].id)
            queue.jobEnded(plan.jobs[next])
        }
        return order
    }

    @Test func jobsAreOrderedByPriorityLengthAndPosition() throws {
        let plan = try plan([("a", ""), ("b", ""), ("c", "priority: 2,"), ("d", ""), ("e", "priority: -1,")])
        let lengths = ["a": 1.0, "b": 5, "c": 1, "d": 5, "e": 99]
        #expect(order(plan) { lengths[$0] ?? 0 } == ["c", "b", "d", "a", "e"])
    }

    @Test func dependenciesPrecedeTheirDependents() throws {
        let plan = try plan([("a", "needs: [c], priority: 9,"), ("b", ""), ("c", "needs: [b],")])
        #expect(order(plan) == ["b", "c", "a"])
        var queue = JobQueue(plan) { _ in 1 }
        #expect(queue.next.map { plan.jobs[$0].id } == "b")
        queue.takeNext()
        #expect(queue.next == nil, "the others depend on the running job")
        queue.jobEnded(plan.jobs[try #require(plan.jobs.firstIndex { $0.id == "b" })])
        #expect(queue.next.map { plan.jobs[$0].id } == "c")
    }

    @Test func dependentsWaitForAllInstances() throws {
        let (file, sink) = decode(
            """
            version: 1
            jobs:
              all: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, needs: [one], tracks: [ { audio: first, encode: { codec: flac } } ], destination: all.flac }
              one: { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, matrix: { n: [1, 2, 3] }, tracks: [ { audio: first, encode: { codec: flac } } ], destination: "${matrix.n}.flac" }
            """, directory: "/nowhere")
        let whole = BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).plan
        #expect(order(whole).last == "all" && order(whole).count == 4)
    }

    /// Among jobs of similar cost, a suitable one is brought forward, but not if it has a lower priority or a much
    /// lower cost.
    @Test func suitableJobsOfSimilarCostAreBroughtForward() throws {
        let plan = try plan([("a", ""), ("b", ""), ("c", ""), ("d", "priority: -1,")])
        let lengths = ["a": 10.0, "b": 9, "c": 5, "d": 10]
        func first(_ suiting: Set<String>) -> String? {
            var queue = JobQueue(plan) { lengths[$0.id] ?? 0 }
            queue.bringForward { suiting.contains(plan.jobs[$0].id) }
            queue.bringForward { suiting.contains(plan.jobs[$0].id) }
            return queue.next.map { plan.jobs[$0].id }
        }
        #expect(first(["b"]) == "b")
        #expect(first(["c"]) == "a", "`c` must not precede: its cost is much lower")
        #expect(first(["d"]) == "a", "`d` must not precede: its priority is lower")
        #expect(first([]) == "a")
    }

    /// In random graphs, each job is returned once, after its dependencies. The remaining jobs can be removed at any
    /// time.
    @Test(arguments: 0..<30) func everyJobComesOnceAfterItsDependencies(seed: UInt64) throws {
        var random = SeededGenerator(seed)
        let count = 24
        var needs: [String: Set<String>] = [:]
        let jobs = (0..<count).map { number -> (id: String, more: String) in
            let needed = (0..<number).filter { _ in Int.random(in: 0..<6, using: &random) == 0 }.map {
                "j\($0)"
            }
            needs["j\(number)"] = Set(needed)
            let priority = Int.random(in: -2...2, using: &random)
            return (
                "j\(number)",
                (needed.isEmpty ? "" : "needs: [\(needed.joined(separator: ", "))], ")
                    + "priority: \(priority),"
            )
        }.shuffled(using: &random)
        let plan = try plan(jobs)
        #expect(plan.jobs.count == count)
        var queue = JobQueue(plan) { _ in 1 }
        var (running, ended, seen): ([Int], Set<String>, Set<String>) = ([], [], [])
        while seen.count < count {
            if let next = queue.next, running.count < 3 {
                queue.takeNext()
                let id = plan.jobs[next].id
                #expect(seen.insert(id).inserted, "\(id) comes twice")
                #expect((needs[id] ?? []).isSubset(of: ended), "\(id) comes before its dependencies")
                running.append(next)
                if seen.count == count / 2, seed % 3 == 0 {
                    #expect(
                        Set(queue.removeAll().map { plan.jobs[$0].id })
                            == Set(plan.jobs.map(\.id)).subtracting(seen))
                    #expect(queue.next == nil && queue.removeAll().isEmpty)
                    return
                }
            } else {
                let position = try #require(
                    running.indices.randomElement(using: &random), "no job is ready or running")
                let done = running.remove(at: position)
                ended.insert(plan.jobs[done].id)
                queue.jobEnded(plan.jobs[done])
            }
        }
        #expect(queue.next == nil)
    }
}
