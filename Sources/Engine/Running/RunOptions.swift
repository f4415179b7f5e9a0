package import JobPlan
package import JobRun
package import JobStages

/// The options of `tandem run`.
package struct RunOptions: Sendable {
    /// Paths of the job files; empty with `plan`.
    package var files: [String] = []
    /// Variables that override the files' `vars`.
    package var variables: [String: String] = [:]
    /// Path of a saved plan, which is executed instead of planning the job files; nil for none.
    package var plan: String?
    /// Index of the part of the saved plan; nil for the environment's.
    package var shard: Int?
    /// Jobs to run, with those that they require; empty for all.
    package var only: [String] = []
    /// Job instances to run; nil for all.
    package var selected: Set<JobKey>?
    /// Records of other jobs, which earlier runs of a series executed. Reports contain them, and no job may replace their outputs.
    package var carried: [JobRecord] = []
    /// Whether reports are written if the run ends before its first job starts.
    package var reportsEarlyEnd = true
    /// Returns whether the selected jobs may still run. Called once the state is locked, which may take time.
    package var isCurrent: @Sendable () -> Bool = { true }
    /// Whether jobs that are up to date run too.
    package var isForced = false
    /// Whether to wait for a run that uses the same state folder.
    package var waits = false

    /// Root folder of all paths; nil for the default.
    package var root: String?
    /// Whether the authors of the job files are untrusted.
    package var isUntrusted = false
    /// Whether sources may be URLs.
    package var allowsNetwork = false
    /// Location of the state.
    package var state: StateLocation
    /// Cache of outputs; nil for none.
    package var cache: CacheSettings?
    /// Settings of the worker processes.
    package var workers: WorkerSettings

    /// Limits of the run, and its reaction to failures.
    package var policy = RunPolicy()
    /// Diagnostics that fail the run.
    package var strictness = Pipeline.Strictness()
    /// Report and event files to write.
    package var destinations = ReportDestinations(junit: nil, reports: [])

    /// Stream to which progress is written.
    package var console: Console
    package var verbosity = ProgressDisplay.Verbosity.normal
    /// Command line that repeats the run; nil if none is printed.
    package var rerunCommand: ProgressDisplay.RerunCommand?
    /// Whether signals interrupt the run. Only one run of a process can handle them.
    package var handlesSignals = false

    /// Creates default options, without job files.
    package init(state: StateLocation, workers: WorkerSettings, console: Console) {
        self.state = state
        self.workers = workers
        self.console = console
    }
}
