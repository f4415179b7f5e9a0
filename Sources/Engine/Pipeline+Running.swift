package import JobRun
package import JobStages

extension Pipeline.Planned {
    /// Returns the outputs that a run would create, with the reasons.
    /// - Throws: `StateError` if the state can't be read.
    package func forecast(_ state: RunState) throws(StateError) -> RunForecast {
        try RunForecast(plan, files: files, prober: prober) { task, job throws(StateError) in
            try state.reasons(for: task, of: job)
        }
    }
}

extension Pipeline.Runnable {
    /// Creates the runner of the plan. `performer` executes the work; `observer` receives the events.
    package func runner(
        _ policy: RunPolicy = RunPolicy(), state: RunState?, performer: any WorkPerformer,
        observer: any RunObserver
    ) -> BatchRunner {
        BatchRunner(
            plan: planned.plan, files: planned.files, policy: policy, state: state, performer: performer,
            prober: planned.prober, observer: observer)
    }
}
