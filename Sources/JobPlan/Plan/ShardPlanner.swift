internal import HeapModule

/// Splitting of a plan into parts for several machines. Jobs that depend on each other stay together, and the parts
/// have a similar cost.
package enum ShardPlanner {
    /// Returns the plan without jobs that depend on a rejected job. They are rejected as well, because no part contains
    /// the job for which they wait.
    package static func withoutWaiting(_ plan: BatchPlan) -> BatchPlan {
        if plan.refusals.isEmpty { return plan }
        var refused: [JobKey: BatchPlan.Refusal] = [:]
        var refusedJobs: [WrittenJobKey: BatchPlan.Refusal] = [:]
        func add(_ refusal: BatchPlan.Refusal) {
            (refused[refusal.key], refusedJobs[refusal.writtenKey]) = (refusal, refusal)
        }
        plan.refusals.forEach(add)
        var (kept, waiting) = (plan.jobs, [BatchPlan.Refusal]())
        var isComplete = false
        while !isComplete {
            isComplete = true
            kept.removeAll { job in
                guard
                    let cause = job.readKeys.lazy.compactMap({ refused[$0] }).first
                        ?? job.neededKeys.lazy.compactMap({ refusedJobs[$0] }).first
                else { return false }
                let refusal = BatchPlan.Refusal(id: job.id, file: job.file, diagnostics: cause.diagnostics)
                waiting.append(refusal)
                add(refusal)
                isComplete = false
                return true
            }
        }
        return BatchPlan(
            jobs: kept, upToDateJobs: plan.upToDateJobs, skips: plan.skips,
            refusals: plan.refusals + waiting)
    }

    /// A function that returns the estimated processor time of a job in seconds.
    package typealias Estimate = (JobPlan) -> Double

    /// Returns a number of parts, each of which has at least `minWork` seconds of estimated processor time on average, up
    /// to `atMost` and to the number of jobs; at least 1. Each job that reads chunks counts as a part.
    package static func count(
        for plan: BatchPlan, chunks: [ChunkPart] = [], minWork: Double, atMost: Int,
        by estimate: Estimate = { JobCost($0).work }
    ) -> Int {
        let distributed = Set(chunks.map(\.key))
        let others = plan.jobs.filter { !distributed.contains($0.key) }
        let work = others.reduce(0) { $0 + estimate($1) }
        let count = min(others.count, max(others.isEmpty ? 0 : 1, Int(min(work / minWork, 1e9))))
        return max(1, min(atMost, distributed.count + count))
    }

    /// Returns the parts of a plan, some of whose jobs read files that the parts of `chunks` create. Without `chunks`, there
    /// are always `count` parts; if there are fewer groups of dependent jobs, the last parts are empty. Otherwise there are
    /// at most `count` parts besides those of `chunks`, or two if each kind of job needs one.
    package static func layout(
        _ plan: BatchPlan, into count: Int, chunks: [ChunkPart] = [],
        by estimate: Estimate = { JobCost($0).work }
    ) -> ShardLayout {
        let distributed = Set(chunks.map(\.key))
        var (joining, others) = ([[Int]](), [[Int]]())
        for group in groups(of: plan) {
            if group.contains(where: { distributed.contains(plan.jobs[$0].key) }) {
                joining.append(group)
            } else {
                others.append(group)
            }
        }
        if joining.isEmpty {
            return ShardLayout(others: balanced(others, of: plan, into: count, by: estimate))
        }
        func work(_ groups: [[Int]]) -> Double { groups.joined().reduce(0) { $0 + estimate(plan.jobs[$1]) } }
        // Jobs whose chunks exist only read their sources.
        let joiningWork = work(joining) * ChunksPlan.readShare
        let share = joiningWork / max(joiningWork + work(others), .leastNonzeroMagnitude)
        let most = others.isEmpty ? count : count - 1
        let joiningParts = max(1, min(joining.count, most, Int((Double(count) * share).rounded(.up))))
        let otherParts = max(1, min(others.count, count - joiningParts))
        return ShardLayout(
            chunks: chunks, joining: balanced(joining, of: plan, into: joiningParts, by: estimate),
            others: others.isEmpty
                ? [] : balanced(others, of: plan, into: otherParts, by: estimate))
    }

    /// Returns the groups of jobs that depend on each other.
    private static func groups(of plan: BatchPlan) -> [[Int]] {
        var groups = DisjointSets(count: plan.jobs.count)
        var instances: [JobKey: Int] = [:]
        var instancesOfJobs: [WrittenJobKey: [Int]] = [:]
        for (index, job) in plan.jobs.enumerated() {
            instances[job.key] = index
            instancesOfJobs[job.writtenKey, default: []].append(index)
        }
        for (index, job) in plan.jobs.enumerated() {
            for key in job.readKeys {
                if let read = instances[key] { groups.join(index, read) }
            }
            for key in job.neededKeys {
                for other in instancesOfJobs[key] ?? [] { groups.join(index, other) }
            }
        }
        var members: [Int: [Int]] = [:]
        for index in plan.jobs.indices { members[groups.root(of: index), default: []].append(index) }
        return members.values.sorted { $0[0] < $1[0] }
    }

    /// Returns the indices of each part's jobs in the plan, in the plan's order.
    private static func balanced(
        _ groups: [[Int]], of plan: BatchPlan, into count: Int, by estimate: Estimate
    ) -> [[Int]] {
        let costs = plan.jobs.map(estimate)
        let weighted = groups.map { (jobs: $0, work: $0.reduce(0) { $0 + costs[$1] }) }
        var shards = [[Int]](repeating: [], count: max(1, count))
        var loads = Heap(shards.indices.map { ShardLoad(work: 0, shard: $0) })
        // Longest processing time first: the greatest work of a part is at most 4/3 of the optimum.
        for group in weighted.sorted(by: { ($0.work, -$0.jobs[0]) > ($1.work, -$1.jobs[0]) }) {
            guard let least = loads.min else { break }
            shards[least.shard] += group.jobs
            loads.replaceMin(with: ShardLoad(work: least.work + group.work, shard: least.shard))
        }
        return shards.map { $0.sorted() }
    }
}

/// The work of a part while jobs are added to it. Ordered by work, then by the part's index.
private struct ShardLoad: Comparable {
    let work: Double
    let shard: Int

    static func < (a: ShardLoad, b: ShardLoad) -> Bool { (a.work, a.shard) < (b.work, b.shard) }
}

/// The parts of a plan, in their order: those that encode chunks, those whose jobs read the chunks, and others.
package struct ShardLayout: Sendable {
    /// Chunks of each part.
    package var chunks: [ChunkPart] = []
    /// Indices in the plan of each part's jobs, some of which read chunks. These parts begin after those that encode chunks.
    package var joining: [[Int]] = []
    /// Indices in the plan of the other parts' jobs.
    package var others: [[Int]] = []
}

/// The groups of connected indices (union-find).
private struct DisjointSets {
    private var parents: [Int]

    init(count: Int) { parents = Array(0..<count) }

    mutating func root(of index: Int) -> Int {
        var index = index
        while parents[index] != index {
            parents[index] = parents[parents[index]]
            index = parents[index]
        }
        return index
    }

    mutating func join(_ a: Int, _ b: Int) {
        let (a, b) = (root(of: a), root(of: b))
        parents[max(a, b)] = min(a, b)
    }
}
