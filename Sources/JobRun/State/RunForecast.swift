internal import ExactStrings
package import JobPlan
package import JobSpec

/// Which outputs of a plan would be made, and why.
package struct RunForecast: Sendable {
    private var reasons: [JobKey: RunReasons] = [:]

    /// Of a plan, by what earlier runs left behind.
    package init(
        _ plan: BatchPlan, files: [JobFile], state: RunState, prober: any SourceProber
    ) throws(StateError) {
        // Where outputs that would be made go: who reads them reads something new.
        var made: Set<ExactString> = []
        for job in plan.jobs {
            var job = job
            let read = job.inputs.flatMap(\.jobOutputs)
            let runs = read.first { made.contains($0.path.exact) }?.job
            // The output that it reads is there and stays.
            if runs == nil, !read.isEmpty,
                let fresh = try? BatchPlanner.replan(job, in: files, prober: prober)
            {
                job = fresh
            }
            for task in job.tasks {
                let why =
                    if let runs {
                        RunReasons(lines: ["the job `\(runs)`, whose output it reads, runs"])
                    } else {
                        try state.reasons(for: task)
                    }
                reasons[JobKey(file: job.file, id: task.name)] = why
                if !why.lines.isEmpty, !why.onlyJudges { made.insert(task.output.destination.exact) }
            }
        }
    }

    /// Why an output would be made.
    package func reasons(for task: OutputTask) -> RunReasons {
        reasons[JobKey(file: task.file, id: task.name)] ?? RunReasons(lines: [])
    }
}
