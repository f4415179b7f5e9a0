internal import HeapModule
internal import JobPlan
internal import JobSpec

/// A priority queue of the jobs that have not started, by index in the plan. A job is ready once all its dependencies
/// have ended. Ready jobs are ordered by priority, then by decreasing work. Operations on one job take logarithmic
/// time.
struct JobQueue {
    private struct Entry: Comparable {
        let priority: Int
        let work: Double
        let index: Int

        /// Orders by priority and work. Among equals, the job that comes first in the plan is the greatest.
        static func < (a: Entry, b: Entry) -> Bool {
            (a.priority, a.work, -a.index) < (b.priority, b.work, -b.index)
        }
    }

    private var ready: Heap<Entry> = []
    /// A ready job that precedes all others, regardless of its priority.
    private var front: Entry?
    /// Number of open dependencies by job: the instances that it reads and the jobs listed in `needs`.
    private var openDependencies: [Int]
    private var isWaiting: [Bool]
    private let entries: [Entry]
    private var readers: [JobKey: [Int]] = [:]
    private var dependents: [WrittenJobKey: [Int]] = [:]
    /// Number of instances of each job that have not ended.
    private var openInstances: [WrittenJobKey: Int] = [:]

    /// Creates a queue of the plan's jobs; refused jobs count as ended. `work` returns the estimated duration of a job.
    init(_ plan: BatchPlan, work: (JobPlan) -> Double = { JobCost($0).work }) {
        openDependencies = [Int](repeating: 0, count: plan.jobs.count)
        isWaiting = [Bool](repeating: true, count: plan.jobs.count)
        entries = plan.jobs.enumerated().map {
            Entry(priority: $1.scheduling.priority, work: work($1), index: $0)
        }
        for job in plan.jobs { openInstances[job.writtenKey, default: 0] += 1 }
        let instances = Set(plan.jobs.map(\.key))
        for (index, job) in plan.jobs.enumerated() {
            for key in job.readKeys where instances.contains(key) {
                readers[key, default: []].append(index)
                openDependencies[index] += 1
            }
            for key in Set(job.neededKeys) where openInstances[key] != nil {
                dependents[key, default: []].append(index)
                openDependencies[index] += 1
            }
            if openDependencies[index] == 0 { ready.insert(entries[index]) }
        }
    }

    /// Index of the next ready job; nil if none is ready. The job stays in the queue until `takeNext`.
    var next: Int? { (front ?? ready.max)?.index }

    /// Removes the next job.
    mutating func takeNext() {
        guard let entry = front.take() ?? ready.popMax() else { return }
        isWaiting[entry.index] = false
    }

    /// Moves a suitable job to the front, if one of the first eight jobs with similar work is suitable.
    mutating func bringForward(_ isSuitable: (Int) -> Bool) {
        if let front = front.take() { ready.insert(front) }
        guard let first = ready.max, !isSuitable(first.index) else { return }
        var passed: [Entry] = []
        while front == nil, passed.count < 8, let entry = ready.max, entry.priority == first.priority,
            entry.work >= first.work * 0.8
        {
            ready.removeMax()
            if isSuitable(entry.index) { front = entry } else { passed.append(entry) }
        }
        for entry in passed { ready.insert(entry) }
    }

    /// Records that a job instance has ended, with any outcome, and releases its dependents.
    mutating func jobEnded(_ job: JobPlan) {
        release(readers.removeValue(forKey: job.key) ?? [])
        guard let remaining = openInstances[job.writtenKey] else { return }
        openInstances[job.writtenKey] = remaining - 1
        if remaining == 1 { release(dependents.removeValue(forKey: job.writtenKey) ?? []) }
    }

    private mutating func release(_ indices: [Int]) {
        for index in indices {
            openDependencies[index] -= 1
            if openDependencies[index] == 0 { ready.insert(entries[index]) }
        }
    }

    /// Removes and returns all jobs that have not started.
    mutating func removeAll() -> [Int] {
        let remaining = isWaiting.indices.filter { isWaiting[$0] }
        for index in remaining { isWaiting[index] = false }
        (ready, front) = ([], nil)
        return remaining
    }
}
