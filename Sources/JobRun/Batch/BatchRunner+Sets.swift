internal import ExactStrings
internal import JobPlan
internal import LibAV
internal import Publishing

extension BatchRunner {
    /// Completes the sets of files that a killed run was replacing, before any job starts and before dead
    /// temporary files are removed. A set is completed only if it belongs to a job that would run now and
    /// would create exactly these files: their marks have the digest of its plan, and each may replace the
    /// file at its destination. Any other set is discarded: its job creates the files again, or they are up
    /// to date.
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
            // The set of another batch, or of a job that isn't selected, is ignored.
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
        let publisher = OutputPublisher(task: task, sources: sources, state: state)
        return (try? publisher?.replacesExisting()) != nil
    }
}
