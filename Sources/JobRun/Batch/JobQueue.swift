internal import HeapModule
internal import JobPlan
internal import JobSpec

/// The jobs that have not started, by index in the plan. A job is ready once all its dependencies have ended: jobs of
/// higher priority first, then the longest. The cost of a job doesn't grow with the number of jobs.
struct JobQueue {
    private struct Ready: Comparable {
        let priority: Int
        let work: Double
        let index: Int

        /// Orders by priority and work. Of equals, the job that is first in the plan is the greatest.
        static func < (a: Ready, b: Ready) -> Bool {
            (a.priority, a.work, -a.index) < (b.priority, b.work, -b.index)
        }
    }

    private var ready: Heap<Ready> = []
    /// A ready job that is taken before its turn.
    private var front: Ready?
    /// Number of open dependencies by job: the instances that it reads, and the jobs that it needs.
    private var open: [Int]
    private var isWaiting: [Bool]
    private let ranks: [Ready]
    private var readers: [JobKey: [Int]] = [:]
    private var needers: [JobKey: [Int]] = [:]
    /// Number of instances of each job that have not ended.
    private var openRuns: [JobKey: Int] = [:]

    /// Creates a queue of the jobs of a plan; refused jobs have ended before any job starts. `work` returns how long
    /// a job takes.
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

    /// Index of the next job without open dependencies; nil if there is none now. The job stays in the queue until it
    /// is taken.
    var next: Int? { (front ?? ready.max)?.index }

    /// Removes the next job.
    mutating func takeNext() {
        guard let rank = front.take() ?? ready.popMax() else { return }
        isWaiting[rank.index] = false
    }

    /// Moves a suitable job to the front, if one of the first few jobs with similar work is suitable.
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

    /// Records that a job instance has ended, with any outcome.
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

    /// Removes and returns all jobs that have not started.
    mutating func drain() -> [Int] {
        let left = isWaiting.indices.filter { isWaiting[$0] }
        for index in left { isWaiting[index] = false }
        (ready, front) = ([], nil)
        return left
    }
}
