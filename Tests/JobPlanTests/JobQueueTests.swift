import Diagnostics
import Foundation
import JobPlan
import TestSupport
import Testing

@testable import JobRun

/// Which job comes next: those that wait for nothing, by priority, then the longest, then as they stand.
@Suite struct JobQueueTests {
    private func plan(_ jobs: [(id: String, more: String)]) throws -> BatchPlan {
        let lines = jobs.map { job in
            "  \(job.id): { asset: { pattern: smpte, duration: 1s, tone: 1kHz }, \(job.more) tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(job.id).flac }"
        }
        let (file, sink) = decode(
            "version: 1\njobs:\n" + lines.joined(separator: "\n"), directory: "/nowhere")
        return BatchPlanner.plan([try #require(file, "\(sink.diagnostics)")]).plan
    }

    /// The ids in the order in which they come when each ends before the next one begins.
    private func order(_ plan: BatchPlan, work: @escaping (String) -> Double = { _ in 1 }) -> [String] {
        var queue = JobQueue(plan) { work($0.id) }
        var order: [String] = []
        while let next = queue.next {
            queue.takeNext()
            order.append(plan.jobs[next].id)
            queue.ended(plan.jobs[next])
        }
        return order
    }

    @Test func priorityThenLengthThenPlace() throws {
        let plan = try plan([("a", ""), ("b", ""), ("c", "priority: 2,"), ("d", ""), ("e", "priority: -1,")])
        let lengths = ["a": 1.0, "b": 5, "c": 1, "d": 5, "e": 99]
        #expect(order(plan) { lengths[$0] ?? 0 } == ["c", "b", "d", "a", "e"])
    }

    @Test func whatIsNeededComesFirst() throws {
        let plan = try plan([("a", "needs: [c], priority: 9,"), ("b", ""), ("c", "needs: [b],")])
        #expect(order(plan) == ["b", "c", "a"])
        var queue = JobQueue(plan) { _ in 1 }
        #expect(queue.next.map { plan.jobs[$0].id } == "b")
        queue.takeNext()
        #expect(queue.next == nil, "the others wait for one that runs")
        queue.ended(plan.jobs[try #require(plan.jobs.firstIndex { $0.id == "b" })])
        #expect(queue.next.map { plan.jobs[$0].id } == "c")
    }

    @Test func allRunsOfANeededJobMustEnd() throws {
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

    /// Of those that are about as long, one that suits comes next; never one of lower priority or much shorter.
    @Test func oneThatSuitsIsBroughtForward() throws {
        let plan = try plan([("a", ""), ("b", ""), ("c", ""), ("d", "priority: -1,")])
        let lengths = ["a": 10.0, "b": 9, "c": 5, "d": 10]
        func first(_ suiting: Set<String>) -> String? {
            var queue = JobQueue(plan) { lengths[$0.id] ?? 0 }
            queue.bringForward { suiting.contains(plan.jobs[$0].id) }
            queue.bringForward { suiting.contains(plan.jobs[$0].id) }
            return queue.next.map { plan.jobs[$0].id }
        }
        #expect(first(["b"]) == "b")
        #expect(first(["c"]) == "a", "too much shorter")
        #expect(first(["d"]) == "a", "of lower priority")
        #expect(first([]) == "a")
    }

    /// Each comes once, after everything that it waits for, whatever the graph; what is left can be taken out at any time.
    @Test(arguments: 0..<30) func everyJobComesOnceAfterWhatItNeeds(seed: UInt64) throws {
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
                #expect((needs[id] ?? []).isSubset(of: ended), "\(id) comes before what it needs")
                running.append(next)
                if seen.count == count / 2, seed % 3 == 0 {
                    #expect(
                        Set(queue.drain().map { plan.jobs[$0].id })
                            == Set(plan.jobs.map(\.id)).subtracting(seen))
                    #expect(queue.next == nil && queue.drain().isEmpty)
                    return
                }
            } else {
                let place = try #require(running.indices.randomElement(using: &random), "nothing can go on")
                let done = running.remove(at: place)
                ended.insert(plan.jobs[done].id)
                queue.ended(plan.jobs[done])
            }
        }
        #expect(queue.next == nil)
    }
}
