internal import ExactStrings
internal import JobSpec

/// The order in which jobs are planned: that of the files, but each job after those whose outputs it reads. Decoding
/// has already refused cycles.
struct JobOrder {
    /// The index of a file, and that of a job in it.
    struct Entry: Hashable {
        var file: Int
        var job: Int
    }

    let entries: [Entry]

    init(_ files: [JobFile]) {
        entries = files.enumerated().flatMap { index, file in
            Self.order(of: file.jobs).map { Entry(file: index, job: $0) }
        }
    }

    /// Returns the indices of a file's jobs in planning order. The depth of dependencies isn't limited, so the walk
    /// isn't recursive.
    private static func order(of jobs: [JobSpec]) -> [Int] {
        var positions: [ExactString: Int] = [:]
        for (position, job) in jobs.enumerated() { positions[job.id.value.exact] = position }
        var order: [Int] = []
        var (seen, done): (Set<ExactString>, Set<ExactString>) = ([], [])
        for root in jobs.indices {
            var open = [(job: root, isNext: false)]
            while let (job, isNext) = open.popLast() {
                let id = jobs[job].id.value.exact
                if done.contains(id) { continue }
                if isNext {
                    done.insert(id)
                    order.append(job)
                    continue
                }
                guard seen.insert(id).inserted else { continue }
                open.append((job, true))
                for read in jobs[job].asset.readInstances.reversed() {
                    if let position = positions[read.exact] { open.append((position, false)) }
                }
            }
        }
        return order
    }
}
