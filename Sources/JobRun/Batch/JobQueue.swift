internal import HeapModule
internal import JobPlan
internal import JobSpec

/// Jobs that have not begun, by position in the plan. A job comes out once everything that it waits for has ended:
/// those of higher priority first, then the longest. What a job costs doesn't grow with their number.
struct JobQueue {
    private struct Ready: Comparable {
        let priority: Int
        let work: Double
        let index: Int

        /// The greatest comes first; of equals the one that stands first in the plan.
        static func < (a: Ready, b: Ready) -> Bool {
            (a.priority, a.work, -a.index) < (b.priority, b.work, -b.index)
        }
    }

    private var ready: Heap<Ready> = []
    /// One of those that are ready, before its turn.
    private var front: Ready?
    /// How much of what a job waits for is still open: the run it reads, and each job that it needs.
    private var open: [Int]
    private var isWaiting: [Bool]
    private let ranks: [Ready]
    private var readers: [JobKey: [Int]] = [:]
    private var needers: [JobKey: [Int]] = [:]
    /// Runs of each job that have not ended.
    private var openRuns: [JobKey: Int] = [:]

    /// The jobs of a plan; refused ones have ended before anything begins. `work` tells how long a job takes.
    init(_ plan: BatchPlan, work: (JobPlan) -> Double = { JobCost($0).work }) {
        open = [Int](repeating: 0, count: plan.jobs.count)
        isWaiting = [Bool](repeating: true, count: plan.jobs.count)
        ranks = plan.jobs.enumerated().map {
            Ready(priority: $1.scheduling.priority, work: work($1), index: $0)
        }
        for job in plan.jobs { openRuns[JobKey(file: job.file, id: job.base), default: 0] += 1 }
        let runs = Set(plan.jobs.map { JobKey(file: $0.file, id: $0.id) })
        for (index, job) in plan.jobs.enumerated() {
            for id in job.readJobs {
                let name = JobKey(file: job.file, id: id)
                if runs.contains(name) {
                    readers[name, default: []].append(index)
                    open[index] += 1
                }
            }
            for id in Set(job.needs) {
                let name = JobKey(file: job.file, id: id)
                guard openRuns[name] != nil else { continue }
                needers[name, default: []].append(index)
                open[index] += 1
            }
            if open[index] == 0 { ready.insert(ranks[index]) }
        }
    }

    /// The next job that waits for nothing; nil when there is none now. It stays until it is taken.
    var next: Int? { (front ?? ready.max)?.index }

    /// Takes out the next one.
    mutating func takeNext() {
        guard let rank = front.take() ?? ready.popMax() else { return }
        isWaiting[rank.index] = false
    }

    /// Of the first few, which are about as long, one that suits better comes next.
    mutating func bringForward(_ suits: (Int) -> Bool) {
        if let front = front.take() { ready.insert(front) }
        guard let first = ready.max, !suits(first.index) else { return }
        var passed: [Ready] = []
        while front == nil, passed.count < 8, let rank = ready.max, rank.priority == first.priority,
            rank.work >= first.work * 0.8
        {
            ready.removeMax()
            if suits(rank.index) { front = rank } else { passed.append(rank) }
        }
        for rank in passed { ready.insert(rank) }
    }

    /// A run has ended, whatever came of it.
    mutating func ended(_ job: JobPlan) {
        release(readers.removeValue(forKey: JobKey(file: job.file, id: job.id)) ?? [])
        let base = JobKey(file: job.file, id: job.base)
        guard let left = openRuns[base] else { return }
        openRuns[base] = left - 1
        if left == 1 { release(needers.removeValue(forKey: base) ?? []) }
    }

    private mutating func release(_ indices: [Int]) {
        for index in indices {
            open[index] -= 1
            if open[index] == 0 { ready.insert(ranks[index]) }
        }
    }

    /// Takes everything out that has not begun.
    mutating func drain() -> [Int] {
        let left = isWaiting.indices.filter { isWaiting[$0] }
        for index in left { isWaiting[index] = false }
        (ready, front) = ([], nil)
        return left
    }
}
