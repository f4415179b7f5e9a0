public import JobPlan
public import JobSpec

/// Which jobs of a plan would run, and why.
public struct RunForecast: Sendable {
    private var reasons: [JobKey: RunReasons] = [:]

    /// Of a plan, by what earlier runs left behind.
    public init(
        _ plan: BatchPlan, files: [JobFile], state: RunState, scout: any SourceScout = LocalScout()
    ) throws(StateError) {
        for job in plan.jobs {
            var job = job
            let key = JobKey(file: job.file, id: job.id)
            if case .job(let id, _) = job.source {
                if let read = reasons[JobKey(file: job.file, id: id)], !read.lines.isEmpty, !read.onlyJudges {
                    reasons[key] = RunReasons(lines: ["the job `\(id)`, whose output it reads, runs"])
                    continue
                }
                // The output that it reads is there and stays.
                if let fresh = try? Planner.replan(job, in: files, scout: scout) { job = fresh }
            }
            reasons[key] = try state.reasons(for: job)
        }
    }

    /// Why a job would run.
    public func reasons(for job: JobPlan) -> RunReasons {
        reasons[JobKey(file: job.file, id: job.id)] ?? RunReasons(lines: [])
    }
}
