internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import Publishing

extension BatchRunner {
    /// Completes sets of files whose publishing a killed run left unfinished. Called before the first job starts and
    /// before temporary files of killed runs are removed. A set is completed only if this run would create exactly
    /// these files: their marks have the digest of the current plan, and each may replace the file at its destination.
    /// Other sets are discarded; their jobs create the files again, unless they are up to date.
    func completeInterruptedSets() {
        guard let state else { return }
        let root = prober.environment.root
        let sets = namesByFolder.flatMap { folder, names in
            InterruptedSet.find(in: folder.text, of: names, beneath: root)
        }
        guard !sets.isEmpty else { return }
        var tasks: [ExactString: OutputTask] = [:]
        for job in plan.jobs {
            for task in job.tasks.flatMap(\.files) {
                if let destination = task.output.destination { tasks[destination.exact] = task }
            }
        }
        let upToDate = Set(plan.upToDateJobs.flatMap(\.outputs).flatMap(\.files).map(\.exact))
        for set in sets {
            let known = set.destinations.filter { tasks[$0.exact] != nil || upToDate.contains($0.exact) }
            // Sets of other batches and of jobs that aren't selected are ignored.
            guard known.count == set.destinations.count else { continue }
            guard let missing = set.missing(),
                missing.allSatisfy({ isWanted($0, tasks[$0.destination.exact], state) })
            else {
                set.discard()
                continue
            }
            // If a rename fails, the record stays and the job creates the files again.
            try? set.complete(missing)
        }
    }

    private func isWanted(_ file: InterruptedSet.Missing, _ task: OutputTask?, _ state: RunState) -> Bool {
        guard !state.isForced, let task, let digest = state.digest(of: task),
            let mark = DestinationPath.mark(at: file.part),
            case .current = digest.relation(to: DigestValue(mark.digest))
        else { return false }
        let publisher = OutputPublisher(task: task, sources: sources, records: state)
        return (try? publisher?.replacesExisting()) != nil
    }
}
