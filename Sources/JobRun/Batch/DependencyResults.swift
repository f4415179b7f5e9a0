internal import JobPlan

/// The results of the jobs that have ended, from which the fate of the jobs that depend on them follows.
struct DependencyResults {
    private var outcomes: [JobKey: JobOutcome] = [:]
    /// Jobs with an instance that did not succeed, by the ids in the job files.
    private var failures: Set<JobKey> = []
    /// Job instances that ended without output, because a condition didn't hold or their source has no output.
    private var withoutOutput: Set<JobKey> = []
    /// Jobs that have an instance, by the ids in the job files.
    private let jobsWithInstances: Set<JobKey>
    /// Number of jobs that ended without starting.
    private var notRunCount = 0

    init(_ plan: BatchPlan) {
        jobsWithInstances = Set(
            plan.jobs.map { JobKey(file: $0.file, id: $0.base) }
                + plan.upToDateJobs.map { JobKey(file: $0.file, id: $0.base) }
                + plan.skips.map { JobKey(file: $0.file, id: $0.base) }
                + plan.refusals.map { JobKey(file: $0.file, id: $0.base) })
    }

    /// Number of jobs that have ended.
    var count: Int { outcomes.count }
    /// Number of jobs that have ended, without those that were never started.
    var finishedCount: Int { outcomes.count - notRunCount }

    /// Records the outcome of a job instance; `base` is its job in the job file.
    mutating func record(_ outcome: JobOutcome, of key: JobKey, base: JobKey) {
        outcomes[key] = outcome
        switch outcome {
        case .declined, .skipped: withoutOutput.insert(key)
        case .notRun: notRunCount += 1
        case .succeeded, .upToDate, .failed, .cancelled: break
        }
        if !outcome.isSuccess { failures.insert(base) }
    }

    /// Returns the reason why a job can't start although all its dependencies have ended; nil if it can.
    func blockingReason(for job: JobPlan) -> String? {
        func failed(_ id: String) -> Bool {
            outcomes[JobKey(file: job.file, id: id)].map { !$0.isSuccess } ?? false
        }
        if let id = job.readJobs.first(where: failed) {
            return "the job `\(id)`, whose output it reads, did not succeed"
        }
        for need in job.needs where !jobsWithInstances.contains(JobKey(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, has no instance"
        }
        for need in job.needs where failures.contains(JobKey(file: job.file, id: need)) {
            return "the job `\(need)`, which it needs, did not succeed"
        }
        return nil
    }

    /// Returns the reason why a job is skipped whose source wasn't created, although no job failed; nil for any other job.
    func missingSource(of job: JobPlan) -> String? {
        job.readJobs.first { withoutOutput.contains(JobKey(file: job.file, id: $0)) }
            .map { "the job `\($0)`, whose output it reads, has no output" }
    }
}
