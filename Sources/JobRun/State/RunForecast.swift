internal import ExactStrings
package import JobPlan
package import JobSpec

/// The outputs of a plan that a run would create, with the reasons.
package struct RunForecast: Sendable {
    private var reasons: [OutputKey: RunReasons] = [:]

    /// Creates a forecast for a plan. `findReasons` returns the reasons why an output of a job would be created, as far
    /// as the state of earlier runs determines them.
    package init(
        _ plan: BatchPlan, files: [JobFile], prober: any SourceProber,
        findReasons: (OutputTask, JobPlan) throws(StateError) -> RunReasons
    ) throws(StateError) {
        // Destinations of outputs that would be created. A job that reads one of them has a new source.
        var created: Set<ExactString> = []
        // Jobs that have no output, and are no failure. A job that reads one of them is skipped.
        var withoutOutput: Set<JobKey> = []
        for job in plan.jobs {
            let read = job.inputs.flatMap(\.jobOutputs)
            func set(_ omission: RunReasons.Omission) {
                withoutOutput.insert(job.key)
                for task in job.tasks {
                    reasons[task.key] = RunReasons(lines: [], omission: omission)
                }
            }
            if let missing = job.readKeys.first(where: withoutOutput.contains) {
                set(.skipped("the job `\(missing.id)`, whose output it reads, has no output"))
                continue
            }
            var job = job
            let rerunJob = read.first { created.contains($0.path.exact) }?.job
            // If the output that the job reads is up to date, the job can be planned with it.
            if rerunJob == nil, !read.isEmpty {
                switch try? BatchPlanner.replan(job, in: files, prober: prober) {
                case .plan(let replanned)?: job = replanned
                case .skip(let reason)?:
                    set(.skipped(reason))
                    continue
                case nil: break
                }
            }
            for task in job.tasks {
                let why =
                    if let rerunJob {
                        RunReasons(lines: ["the job `\(rerunJob)`, whose output it reads, runs"])
                    } else {
                        try findReasons(task, job)
                    }
                reasons[task.key] = why
                if why.omission != nil { withoutOutput.insert(job.key) }
                if !why.lines.isEmpty, !why.onlyEvaluates, let destination = task.output.destination {
                    created.insert(destination.exact)
                }
            }
        }
    }

    /// Returns the estimated processor time of a job in seconds, which is small if its outputs are up to date. It isn't 0,
    /// because such jobs are shared out among the parts of a plan as well.
    package func work(of job: JobPlan) -> Double {
        let creates = job.tasks.contains { !reasons(for: $0).lines.isEmpty }
        return creates ? JobCost(job).work : min(0.01, JobCost(job).work)
    }

    /// Returns whether a job creates an output, instead of having up-to-date outputs, some of which may be evaluated again.
    package func creates(_ job: JobPlan) -> Bool {
        job.tasks.contains { task in
            let found = reasons(for: task)
            return !found.lines.isEmpty && !found.onlyEvaluates && found.omission == nil
        }
    }

    /// Returns the reasons why an output would be created; empty if it is up to date.
    package func reasons(for task: OutputTask) -> RunReasons {
        reasons[task.key] ?? RunReasons(lines: [])
    }
}
