internal import ExactStrings
internal import JobPlan
internal import Publishing

/// Completes sets of files whose publishing a killed run left unfinished.
///
/// A set is completed only if this run would create exactly these files: their marks have the digest of the current
/// plan, and each may replace the file at its destination. Other sets are discarded; their jobs create the files again,
/// unless they are up to date.
struct InterruptedSetCompletion {
    private let tasks: [ExactString: OutputTask]
    private let upToDate: Set<ExactString>
    private let sources: Set<SourceFileKey>
    private let state: RunState

    /// Creates a completion of sets for a run of `plan`. `sources` are the files that the plan's jobs read.
    init(_ plan: BatchPlan, sources: Set<SourceFileKey>, state: RunState) {
        var tasks: [ExactString: OutputTask] = [:]
        for job in plan.jobs {
            for task in job.tasks.flatMap(\.files) {
                if let destination = task.output.destination { tasks[destination.exact] = task }
            }
        }
        self.tasks = tasks
        upToDate = Set(plan.upToDateJobs.flatMap(\.outputs).flatMap(\.files).map(\.exact))
        (self.sources, self.state) = (sources, state)
    }

    /// Completes or discards a set. Sets of other batches and of jobs that aren't selected are ignored.
    func complete(_ set: InterruptedSet) {
        let known = set.destinations.filter { tasks[$0.exact] != nil || upToDate.contains($0.exact) }
        guard known.count == set.destinations.count else { return }
        guard let missing = set.missing(), missing.allSatisfy(isWanted) else { return set.discard() }
        // If a rename fails, the record stays and the job creates the files again.
        try? set.complete(missing)
    }

    private func isWanted(_ file: InterruptedSet.Missing) -> Bool {
        guard !state.isForced, let task = tasks[file.destination.exact], let digest = state.digest(of: task),
            let marked = DestinationPath.mark(at: file.part)?.planDigest,
            case .current = digest.relation(to: marked)
        else { return false }
        let publisher = OutputPublisher(task: task, sources: sources, records: state)
        return (try? publisher?.replacesExisting()) != nil
    }
}
