internal import JobPlan

/// The results of the jobs that have ended, from which the fate of the jobs that depend on them follows.
struct DependencyResults {
    private var outcomes: [JobKey: JobOutcome] = [:]
    /// Jobs with an instance that did not succeed.
    private var failures: Set<WrittenJobKey> = []
    /// Job instances that ended without output, because a condition didn't hold or their source has no output.
    private var withoutOutput: Set<JobKey> = []
    private let jobsWithInstances: Set<WrittenJobKey>
    /// Number of jobs that ended without starting.
    private var notRunCount = 0

    init(_ plan: BatchPlan) {
        jobsWithInstances = Set(
            plan.jobs.map(\.writtenKey) + plan.upToDateJobs.map(\.writtenKey) + plan.skips.map(\.writtenKey)
                + plan.refusals.map(\.writtenKey))
    }

    /// Number of jobs that have ended.
    var count: Int { outcomes.count }
    /// Number of jobs that have ended, without those that were never started.
    var finishedCount: Int { outcomes.count - notRunCount }

    /// Records the outcome of a job instance.
    mutating func record(_ outcome: JobOutcome, of job: some PlannedInstance) {
        outcomes[job.key] = outcome
        switch outcome {
        case .declined, .skipped: withoutOutput.insert(job.key)
        case .notRun: notRunCount += 1
        case .succeeded, .upToDate, .failed, .cancelled: break
        }
        if !outcome.isSuccess { failures.insert(job.writtenKey) }
    }

    /// Returns the reason why a job can't start although all its dependencies have ended; nil if it can.
    func blockingReason(for job: JobPlan) -> String? {
        if let key = job.readKeys.first(where: { outcomes[$0]?.isSuccess == false }) {
            return "the job `\(key.id)`, whose output it reads, did not succeed"
        }
        let needed = job.neededKeys
        if let key = needed.first(where: { !jobsWithInstances.contains($0) }) {
            return "the job `\(key.id)`, which it needs, has no instance"
        }
        if let key = needed.first(where: failures.contains) {
            return "the job `\(key.id)`, which it needs, did not succeed"
        }
        return nil
    }

    /// Returns the reason why a job is skipped whose source wasn't created, although no job failed; nil for any other job.
    func missingSource(of job: JobPlan) -> String? {
        job.readKeys.first(where: withoutOutput.contains)
            .map { "the job `\($0.id)`, whose output it reads, has no output" }
    }
}
