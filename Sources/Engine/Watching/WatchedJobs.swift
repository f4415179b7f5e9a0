internal import Diagnostics
internal import JobPlan
internal import JobRun

/// The jobs of a watch: the files with which a batch took them, and their results.
struct WatchedJobs {
    /// The reason why a job isn't in a batch.
    enum Wait: Hashable {
        /// A file doesn't exist.
        case missing(String)
        /// A file may still be written.
        case incomplete(String)
        /// A problem of the job's patterns, such as that no file matches.
        case pattern(String)
        /// A job whose output it reads, or that it needs, waits.
        case prerequisite(JobKey)
    }

    /// The result of a look at the files.
    struct Assessment {
        /// The jobs of the next batch; empty if none is due. With the jobs that have new files, it contains those that depend on
        /// them, and those that all these depend on.
        var batch: Set<JobKey> = []
        /// The jobs of the batch with new files.
        var due: Set<JobKey> = []
        /// The jobs that wait, with the reasons.
        var waits: [JobKey: Wait] = [:]
        /// The earliest time at which an incomplete file may have become complete; nil if there is none.
        var next: ContinuousClock.Instant?
        /// Jobs that have new files and need one that failed, with that one.
        fileprivate var blocked: [JobKey: JobKey] = [:]
        fileprivate var tokens: [JobKey: [String]] = [:]
    }

    /// Tokens of the files with which the last batch took a job.
    private var taken: [JobKey: [String]] = [:]
    /// Results of the jobs, as later reports contain them.
    private var records: [JobKey: JobRecord] = [:]
    /// Jobs that may not run, because of a conflict with others, and the tokens of all jobs in this state.
    private var rejected: (jobs: Set<JobKey>, tokens: [JobKey: [String]]) = ([], [:])
    /// Parts of a batch that was rejected as a whole, which are tried one after another.
    private var parts: [Set<JobKey>] = []

    /// Determines the jobs of the next batch. `state` returns the state of a file.
    func assess(_ inputs: JobInputs, state: (String) -> FileSettling.State) -> Assessment {
        var result = Assessment()
        for (key, message) in inputs.problems { result.waits[key] = .pattern(message) }
        for job in inputs.jobs { assess(job, state, &result) }
        let graph = Graph(inputs.jobs)
        // A job waits with those that it needs.
        graph.visit(from: result.waits.keys, along: graph.dependents) { dependent, cause in
            guard result.waits[dependent] == nil else { return false }
            result.waits[dependent] = .prerequisite(cause)
            result.tokens[dependent] = nil
            return true
        }
        result.due = Set(result.tokens.filter { taken[$0.key] != $0.value }.keys)
        // Any change may have solved a conflict.
        if result.tokens == rejected.tokens { result.due.subtract(rejected.jobs) }
        if let part = parts.lazy.map({ $0.intersection(result.due) }).first(where: { !$0.isEmpty }) {
            result.due = part
        }
        var active = result.due
        graph.visit(from: result.due, along: graph.dependents) { key, _ in
            result.waits[key] == nil && active.insert(key).inserted
        }
        block(&result, &active, graph)
        result.batch = active
        graph.visit(from: active, along: graph.prerequisites) { key, _ in result.batch.insert(key).inserted }
        return result
    }

    /// Removes jobs that need one that failed and isn't tried again.
    private func block(_ result: inout Assessment, _ active: inout Set<JobKey>, _ graph: Graph) {
        for key in active {
            let failed = graph.prerequisites[key]?.first {
                !active.contains($0) && records[$0]?.outcome.isSuccess == false
            }
            if let failed { result.blocked[key] = failed }
        }
        graph.visit(from: result.blocked.keys, along: graph.dependents) { key, cause in
            guard active.contains(key), result.blocked[key] == nil else { return false }
            result.blocked[key] = cause
            return true
        }
        active.subtract(result.blocked.keys)
        result.due.subtract(result.blocked.keys)
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

    /// Returns the results of jobs that aren't in the batch, for its report. Jobs whose files are gone have none.
    func carried(_ assessment: Assessment) -> [JobRecord] {
        records.filter { key, _ in !assessment.batch.contains(key) && assessment.knows(key) }
            .sorted { ($0.key.file, $0.key.id) < ($1.key.file, $1.key.id) }
            .map(\.value)
    }

    /// Takes jobs that need one that failed, without a batch.
    mutating func skipBlocked(_ assessment: Assessment) {
        for (key, failed) in assessment.blocked {
            taken[key] = assessment.tokens[key]
            let reason = "the job `\(failed.id)`, which it needs, did not succeed"
            records[key] = JobRecord(id: key.id, file: key.file, outcome: .notRun(reason))
        }
    }

    /// Adds the records of a batch that has ended.
    mutating func add(_ ended: [JobRecord], of assessment: Assessment) {
        for key in assessment.batch { taken[key] = assessment.tokens[key] }
        for record in ended { records[JobKey(file: record.file, id: record.id)] = record.carried }
        parts = parts.map { $0.subtracting(assessment.due) }.filter { !$0.isEmpty }
        forgetOthers(assessment)
    }

    /// Adds a batch that was rejected before a job started. Its halves are tried separately. A single job is rejected until
    /// anything changes.
    mutating func addRejection(_ problems: [Diagnostic], of assessment: Assessment) {
        if rejected.tokens != assessment.tokens { rejected = ([], assessment.tokens) }
        parts.removeAll { $0.isSuperset(of: assessment.due) && $0.subtracting(assessment.due).isEmpty }
        let due = assessment.due.sorted { ($0.file, $0.id) < ($1.file, $1.id) }
        if due.count > 1 {
            parts.insert(
                contentsOf: [Set(due.prefix(due.count / 2)), Set(due.dropFirst(due.count / 2))], at: 0)
        } else if let key = due.first {
            rejected.jobs.insert(key)
            let problem = problems.first { $0.severity == .error } ?? problems.first
            records[key] = JobRecord(
                id: key.id, file: key.file,
                outcome: .failed(
                    JobFailure(
                        problem?.message ?? "the job was rejected",
                        at: problem?.range ?? .startOfFile(key.file), rule: problem?.rule)))
        }
        forgetOthers(assessment)
    }

    /// Forgets jobs that no longer exist.
    private mutating func forgetOthers(_ assessment: Assessment) {
        records = records.filter { assessment.knows($0.key) }
        taken = taken.filter { assessment.knows($0.key) }
    }

    /// Takes all jobs again, because the job files have changed.
    mutating func reset() { self = WatchedJobs() }

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
            from start: some Sequence<JobKey>, along links: [JobKey: [JobKey]],
            enter: (JobKey, JobKey) -> Bool
        ) {
            var open = Array(start)
            while let key = open.popLast() {
                for next in links[key] ?? [] where enter(next, key) { open.append(next) }
            }
        }
    }
}

extension WatchedJobs.Assessment {
    /// Returns whether a job exists.
    fileprivate func knows(_ key: JobKey) -> Bool { tokens[key] != nil || waits[key] != nil }
}

extension JobRecord {
    /// The record as a later report of a series of runs contains it: an output that was created is up to date.
    fileprivate var carried: JobRecord {
        var record = self
        switch outcome {
        case .succeeded, .upToDate:
            // A plan is large, and a watch has any number of records.
            record = JobRecord(id: id, file: file, outcome: .upToDate)
            record.upToDateOutputs =
                plan?.outputs.map { BatchPlan.Output(id: $0.id, destination: $0.destination) }
                ?? upToDateOutputs
            (record.warnings, record.earlierWarnings) = (warnings, earlierWarnings)
        case .failed, .skipped, .declined, .cancelled, .notRun: break
        }
        // The time is relative to the start of that run.
        record.begun = nil
        return record
    }
}
