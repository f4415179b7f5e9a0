internal import JobPlan
internal import JobRun

/// The jobs of a watch: the files with which a batch took them, and those that failed with these files.
struct WatchedJobs {
    /// The reason why a job isn't in a batch.
    enum Wait: Hashable {
        /// A file doesn't exist.
        case missing(String)
        /// A file may still be written.
        case incomplete(String)
        /// No file matches the job's patterns. The value is the message that states it.
        case unmatched(String)
        /// A job whose output it reads, or that it needs, waits.
        case prerequisite(JobKey)
    }

    /// The result of a look at the files.
    struct Assessment {
        /// Jobs whose files changed since a batch took them; empty if no batch is due.
        var due: Set<JobKey> = []
        /// Jobs that the next batch omits: those that wait, and those that failed with the files that they have.
        var omitted: Set<JobKey> = []
        /// The jobs that wait, with the reasons.
        var waits: [JobKey: Wait] = [:]
        /// The earliest time at which an incomplete file may have become complete; nil if there is none.
        var next: ContinuousClock.Instant?
        fileprivate var tokens: [JobKey: [String]] = [:]
    }

    /// Tokens of the files with which the last batch took a job.
    private var taken: [JobKey: [String]] = [:]
    /// Records of the jobs that failed with these files.
    private var failed: [JobKey: JobRecord] = [:]

    /// Determines the jobs of the next batch. `state` returns the state of a file.
    func assess(_ inputs: JobInputs, state: (String) -> FileSettling.State) -> Assessment {
        var result = Assessment()
        for (key, reason) in inputs.unmatched { result.waits[key] = .unmatched(reason) }
        for job in inputs.jobs { assess(job, state, &result) }
        let graph = Graph(inputs.jobs)
        // A job waits with those that it needs.
        graph.visit(from: Array(result.waits.keys), along: graph.dependents) { dependent, cause in
            guard result.waits[dependent] == nil else { return false }
            result.waits[dependent] = .prerequisite(cause)
            result.tokens[dependent] = nil
            return true
        }
        result.due = Set(result.tokens.filter { taken[$0.key] != $0.value }.keys)
        // Failed jobs are tried again with the jobs that they depend on, and those that depend on them.
        var retried = result.due
        graph.visit(
            from: Array(retried), along: graph.prerequisites.merging(graph.dependents) { $0 + $1 }
        ) { key, _ in retried.insert(key).inserted }
        result.omitted = Set(result.waits.keys).union(failed.keys.filter { !retried.contains($0) })
        return result
    }

    private func assess(
        _ job: JobInputs.Job, _ state: (String) -> FileSettling.State, _ result: inout Assessment
    ) {
        var tokens: [String] = []
        for file in job.files {
            switch state(file.path) {
            case .missing:
                if file.isOptional { tokens.append("-") } else { result.waits[job.key] = .missing(file.path) }
            case .incomplete(let time):
                result.next = min(result.next ?? time, time)
                result.waits[job.key] = .incomplete(file.path)
            case .complete(let token): tokens.append(token)
            }
        }
        if result.waits[job.key] == nil { result.tokens[job.key] = tokens }
    }

    /// Records of failed jobs that a batch omits, for its report.
    func carried(_ assessment: Assessment) -> [JobRecord] {
        failed.filter { assessment.omitted.contains($0.key) && assessment.waits[$0.key] == nil }
            .sorted { ($0.key.file, $0.key.id) < ($1.key.file, $1.key.id) }
            .map { _, record in
                var record = record
                // The time is relative to the batch in which it failed.
                record.begun = nil
                return record
            }
    }

    /// Adds a batch that has ended.
    mutating func add(_ records: [JobRecord], of assessment: Assessment) {
        for (key, tokens) in assessment.tokens where !assessment.omitted.contains(key) { taken[key] = tokens }
        for record in records {
            failed[JobKey(file: record.file, id: record.id)] = record.outcome.isSuccess ? nil : record
        }
        // Jobs whose files are gone.
        let known = Set(assessment.tokens.keys).union(assessment.waits.keys)
        failed = failed.filter { known.contains($0.key) }
        taken = taken.filter { known.contains($0.key) }
    }

    /// Takes all jobs again, because the job files have changed.
    mutating func reset() { (taken, failed) = ([:], [:]) }

    /// The jobs with those that they read or need.
    private struct Graph {
        private(set) var prerequisites: [JobKey: [JobKey]] = [:]
        private(set) var dependents: [JobKey: [JobKey]] = [:]

        init(_ jobs: [JobInputs.Job]) {
            for job in jobs where !job.prerequisites.isEmpty {
                prerequisites[job.key] = job.prerequisites
                for needed in job.prerequisites { dependents[needed, default: []].append(job.key) }
            }
        }

        /// Visits all jobs that links lead to. `enter` receives a job and the one that links to it, and returns whether its own
        /// links are followed.
        func visit(
            from start: [JobKey], along links: [JobKey: [JobKey]], enter: (JobKey, JobKey) -> Bool
        ) {
            var open = start
            while let key = open.popLast() {
                for next in links[key] ?? [] where enter(next, key) { open.append(next) }
            }
        }
    }
}
