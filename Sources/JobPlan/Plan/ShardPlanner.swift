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
    /// to `atMost` and to the number of jobs; at least 1.
    package static func count(
        for plan: BatchPlan, minWork: Double, atMost: Int, by estimate: Estimate = { JobCost($0).work }
    ) -> Int {
        let work = plan.jobs.reduce(0) { $0 + estimate($1) }
        return max(1, min(atMost, plan.jobs.count, Int(min(work / minWork, 1e9))))
    }

    /// Returns the indices of each part's jobs in the plan, in the plan's order. There are always `count` parts; if
    /// there are fewer groups of dependent jobs, the last parts are empty.
    package static func split(
        _ plan: BatchPlan, into count: Int, by estimate: Estimate = { JobCost($0).work }
    ) -> [[Int]] {
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
        let costs = plan.jobs.map(estimate)
        let weighted = members.values.map { (jobs: $0, work: $0.reduce(0) { $0 + costs[$1] }) }
        var shards = [(jobs: [Int], work: Double)](repeating: ([], 0), count: max(1, count))
        // Longest processing time first: the greatest work of a part is at most 4/3 of the optimum.
        for group in weighted.sorted(by: { ($0.work, -$0.jobs[0]) > ($1.work, -$1.jobs[0]) }) {
            let least = shards.indices.min { (shards[$0].work, $0) < (shards[$1].work, $1) } ?? 0
            shards[least].jobs += group.jobs
            shards[least].work += group.work
        }
        return shards.map { $0.jobs.sorted() }
    }
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
