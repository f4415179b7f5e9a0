internal import DequeModule
internal import JobPlan

/// Jobs that have not begun, by position in the plan. A job comes out once everything that it waits for has ended;
/// what a job costs doesn't grow with their number.
struct JobQueue {
    private struct Name: Hashable {
        let file: String
        let id: String
    }

    private var ready: Deque<Int> = []
    /// How much of what a job waits for is still open: the run it reads, and each job that it needs.
    private var open: [Int]
    private var isWaiting: [Bool]
    private var readers: [Name: [Int]] = [:]
    private var needers: [Name: [Int]] = [:]
    /// Runs of each job that have not ended.
    private var openRuns: [Name: Int] = [:]

    /// The jobs of a plan; refused ones have ended before anything begins.
    init(_ plan: BatchPlan) {
        open = [Int](repeating: 0, count: plan.jobs.count)
        isWaiting = [Bool](repeating: true, count: plan.jobs.count)
        for job in plan.jobs { openRuns[Name(file: job.file, id: job.base), default: 0] += 1 }
        let runs = Set(plan.jobs.map { Name(file: $0.file, id: $0.id) })
        for (index, job) in plan.jobs.enumerated() {
            if case .job(let id, _) = job.source {
                let name = Name(file: job.file, id: id)
                if runs.contains(name) {
                    readers[name, default: []].append(index)
                    open[index] += 1
                }
            }
            for id in Set(job.needs) {
                let name = Name(file: job.file, id: id)
                guard openRuns[name] != nil else { continue }
                needers[name, default: []].append(index)
                open[index] += 1
            }
            if open[index] == 0 { ready.append(index) }
        }
    }

    /// The next job that waits for nothing; nil when there is none now.
    mutating func next() -> Int? {
        guard let index = ready.popFirst() else { return nil }
        isWaiting[index] = false
        return index
    }

    /// A run has ended, whatever came of it.
    mutating func ended(_ job: JobPlan) {
        release(readers.removeValue(forKey: Name(file: job.file, id: job.id)) ?? [])
        let base = Name(file: job.file, id: job.base)
        guard let left = openRuns[base] else { return }
        openRuns[base] = left - 1
        if left == 1 { release(needers.removeValue(forKey: base) ?? []) }
    }

    private mutating func release(_ indices: [Int]) {
        for index in indices {
            open[index] -= 1
            if open[index] == 0 { ready.append(index) }
        }
    }

    /// Takes everything out that has not begun.
    mutating func drain() -> [Int] {
        let left = isWaiting.indices.filter { isWaiting[$0] }
        for index in left { isWaiting[index] = false }
        ready.removeAll()
        return left
    }
}
