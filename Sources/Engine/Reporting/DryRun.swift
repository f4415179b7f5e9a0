package import JobRun
package import JobStages
internal import JobPlan

/// The stages of commands that run nothing: job files are checked and planned, and compared with the state.
package struct DryRun: Sendable {
    private let set: JobFileSet
    private let strictness: Pipeline.Strictness
    private let state: StateLocation
    private let workers: WorkerSettings

    /// The plan of jobs, with the outputs that a run would create.
    package struct Result: Sendable {
        package let planned: Pipeline.Planned
        package let forecast: RunForecast
    }

    package init(
        of set: JobFileSet, _ strictness: Pipeline.Strictness, state: StateLocation, workers: WorkerSettings
    ) {
        (self.set, self.strictness, self.state, self.workers) = (set, strictness, state, workers)
    }

    /// Plans the jobs with the given names; all jobs if there are none. `argument` is the location of messages about
    /// unknown names. With `inParts`, the forecast is that of the parts of a plan: on a shared file system, the only record
    /// of finished jobs is the marks of their outputs.
    /// - Throws: `Pipeline.Rejection` if the job files have errors, and `EngineError` for a state that can't be read, or
    ///   workers that can't be started.
    package func plan(
        only names: [String], from argument: String = "--only", inParts: Bool = false
    ) throws -> Result {
        let checked = try set.loaded.checked(strictness)
        let state = try state.open(set, isReading: true)
        return try workers.probing(set.access) { prober in
            let planned = try checked.opened(by: CachingProber(prober, cache: nil, state: state)).planned(
                only: names, from: argument, memory: FullPlanMemory(state))
            let forecast = try StateLocation.convertingErrors { () throws(StateError) in
                try planned.forecast(
                    inParts ? RunState(isForced: false, environment: set.access.sources) : state)
            }
            return Result(planned: planned, forecast: forecast)
        }
    }
}
