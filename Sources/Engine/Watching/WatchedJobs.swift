internal import Diagnostics
internal import JobPlan
internal import JobRun

/// The jobs of a watch: the files with which a batch ran them, and their results.
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
        /// A job whose output it reads, or that it needs, did not succeed, and isn't run again.
        case failure(JobKey)
    }

    /// The next batch, according to the states of the files.
    struct Assessment {
        /// The jobs of the batch; empty if none is due. With the jobs that have new files, it contains those that depend on them,
        /// and those that all these depend on.
        var batch: Set<JobKey> = []
        /// The jobs that wait, with the reasons.
        var waits: [JobKey: Wait] = [:]
        /// The earliest time at which an incomplete file may have become complete; nil if there is none.
        var next: ContinuousClock.Instant?
        /// States of all files of each job that doesn't wait for files.
        fileprivate var tokens: [JobKey: [String]] = [:]

        /// Whether a job exists.
        fileprivate func knows(_ key: JobKey) -> Bool { tokens[key] != nil || waits[key] != nil }
    }

    /// A job that may not run, because of a conflict with others.
    private struct Rejection {
        /// States of the job's files.
        let tokens: [String]?
        /// All jobs that existed. If one is removed, the conflict may be solved.
        let others: Set<JobKey>
    }

    /// States of the files with which the last batch ran a job.
    private var processed: [JobKey: [String]] = [:]
    /// Results of the jobs, as later reports contain them.
    private var records: [JobKey: JobRecord] = [:]
    private var rejections: [JobKey: Rejection] = [:]

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
        let rejected = Set(rejections.filter { isCurrent($0.value, of: $0.key, result) }.keys)
        var active = Set(result.tokens.filter { processed[$0.key] != $0.value }.keys).subtracting(rejected)
        graph.visit(from: active, along: graph.dependents) { key, _ in
            result.waits[key] == nil && !rejected.contains(key) && active.insert(key).inserted
        }
        block(&result, &active, graph)
        result.batch = active
        graph.visit(from: active, along: graph.prerequisites) { key, _ in result.batch.insert(key).inserted }
        return result
    }

    private func assess(
        _ job: JobInputs.Job, _ state: (String) -> FileSettling.State, _ result: inout Assessment
    ) {
        // A job is also run again if it depends on other jobs than before.
        var tokens = job.prerequisites.map(\.id)
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

    /// Returns whether a job is still in the state in which it was rejected.
    private func isCurrent(_ rejection: Rejection, of key: JobKey, _ result: Assessment) -> Bool {
        result.tokens[key] == rejection.tokens && rejection.others.allSatisfy(result.knows)
    }

    /// Removes jobs that need one that did not succeed and isn't run again.
    private func block(_ result: inout Assessment, _ active: inout Set<JobKey>, _ graph: Graph) {
        var blocked: Set<JobKey> = []
        for key in active {
            let failed = graph.prerequisites[key]?.first {
                !active.contains($0) && records[$0]?.outcome.isSuccess == false
            }
            guard let failed else { continue }
            blocked.insert(key)
            result.waits[key] = .failure(failed)
        }
        graph.visit(from: blocked, along: graph.dependents) { key, cause in
            guard active.contains(key), blocked.insert(key).inserted else { return false }
            result.waits[key] = .failure(cause)
            return true
        }
        active.subtract(blocked)
    }

    /// Returns the results of jobs that aren't in the batch, for its report. Jobs whose files are gone have none.
    func carried(_ assessment: Assessment) -> [JobRecord] {
        var carried = records.filter { !assessment.batch.contains($0.key) && assessment.knows($0.key) }
        for case (let key, .failure(let failed)) in assessment.waits {
            let reason = "the job `\(failed.id)`, which it needs, did not succeed"
            carried[key] = JobRecord(id: key.id, file: key.file, outcome: .notRun(reason))
        }
        return carried.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Adds the records of a batch that has ended.
    mutating func add(_ ended: [JobRecord], of assessment: Assessment) {
        for key in assessment.batch { processed[key] = assessment.tokens[key] }
        for record in ended { records[record.key] = record.carried }
        forgetOthers(assessment)
    }

    /// Adds a batch that was rejected before a job started, because of a conflict of `jobs`. These fail, and the others are due
    /// again. If the jobs aren't known, all of the batch fail.
    mutating func addRejection(
        _ problems: [Diagnostic], ofJobs jobs: Set<JobKey>, in assessment: Assessment
    ) {
        let known = jobs.intersection(assessment.batch)
        let rejected = known.isEmpty ? assessment.batch : known
        let others = Set(assessment.tokens.keys).union(assessment.waits.keys)
        let problem = problems.first { $0.severity == .error } ?? problems.first
        for key in rejected {
            rejections[key] = Rejection(tokens: assessment.tokens[key], others: others)
            records[key] = JobRecord(
                id: key.id, file: key.file,
                outcome: .failed(
                    JobFailure(
                        problem?.message ?? "the job was rejected",
                        at: problem?.range ?? .startOfFile(key.file), rule: problem?.rule)))
        }
        forgetOthers(assessment)
    }

    /// Forgets jobs that no longer exist, and rejections that are out of date.
    private mutating func forgetOthers(_ assessment: Assessment) {
        records = records.filter { assessment.knows($0.key) }
        processed = processed.filter { assessment.knows($0.key) }
        rejections = rejections.filter { isCurrent($0.value, of: $0.key, assessment) }
    }

    /// Runs all jobs again, because the job files have changed.
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

extension JobRecord {
    /// The record as a later report of a series of runs contains it: an output that was created is up to date.
    fileprivate var carried: JobRecord {
        var record = self
        switch outcome {
        case .succeeded, .upToDate:
            // A plan is large, and a watch has any number of records.
            record = JobRecord(id: id, file: file, outcome: .upToDate)
            record.upToDateOutputs = plan?.outputs.map(BatchPlan.Output.init) ?? upToDateOutputs
            (record.warnings, record.earlierWarnings) = (warnings, earlierWarnings)
        case .failed, .skipped, .declined, .cancelled, .notRun: break
        }
        // The time is relative to the start of that run.
        record.begun = nil
        return record
    }
}
