public import Diagnostics
internal import Dispatch
internal import Engine
public import FoundationEssentials
public import JobPlan
public import JobRun
internal import JobSpec
internal import JobStages
internal import LibAV
internal import Locking
public import Media
internal import PlanWork

/// Decoded and validated job files; corresponds to `tandem validate`, `plan` and `run` within this process.
///
/// No state file is used: the marks on outputs determine whether they are up to date and aren't created again. Checks
/// of sources leave no mark and run each time.
public struct JobBatch: Sendable {
    private let checked: Pipeline.Checked
    /// Warnings about the job files; errors are thrown by the initializer.
    public let warnings: [Diagnostic]
    private let environment: MediaEnvironment

    /// Reads and validates job files. `variables` override the files' `vars`; environment variables of the process are
    /// not available to job files.
    /// - Throws: `JobFileError` with all errors, each at its location.
    public init(
        contentsOf urls: [URL], variables: [String: String] = [:],
        environment: MediaEnvironment = MediaEnvironment()
    ) throws {
        let set = JobFileSet(
            files: urls.filter(\.isFileURL).map(\.path), variables: variables,
            access: SourceAccess(sources: environment.sources, isUntrusted: false), readsEnvironment: false,
            argument: "variables")
        var sink = set.diagnostics
        for url in urls where !url.isFileURL {
            sink.error(
                .fileUnreadable, "a job file must be a local file, not the URL \(url.absoluteString)",
                at: .argument("files"))
        }
        if urls.isEmpty { sink.error(.fileUnreadable, "no job file given", at: .argument("files")) }
        checked = try JobFileError.converting { () throws(Pipeline.Rejection) in
            try Pipeline.Loaded(files: set.files, diagnostics: sink).checked()
        }
        self.environment = environment
        warnings = sink.diagnostics
    }

    /// Probes the sources and plans all jobs (`tandem plan`); the plan's `refusals` contain jobs that can't be run.
    /// `only` contains the names of the jobs to plan; empty for all jobs.
    /// - Throws: `JobFileError` if this build rejects settings, or if destinations collide.
    public func plan(only: [String] = []) async throws -> PlannedBatch {
        try await DispatchQueue.global().result { try planNow(only) }
    }

    private func planNow(_ only: [String]) throws -> PlannedBatch {
        let state = RunState(isForced: false, environment: environment.sources)
        let runnable = try JobFileError.converting { () throws(Pipeline.Rejection) in
            try checked.opened(by: LocalProber(environment))
                .planned(only: only, from: "only", memory: state).runnable()
        }
        return PlannedBatch(runnable: runnable, state: state, environment: environment)
    }
}

/// A planned batch, which can be run once.
public struct PlannedBatch: Sendable {
    private let runnable: Pipeline.Runnable
    private let state: RunState
    private let environment: MediaEnvironment

    init(runnable: Pipeline.Runnable, state: RunState, environment: MediaEnvironment) {
        self.runnable = runnable
        self.state = state
        self.environment = environment
    }

    /// The plans of all jobs, and the jobs that can't be run.
    public var plan: BatchPlan { runnable.planned.plan }
    /// All diagnostics, including errors of single jobs.
    public var diagnostics: [Diagnostic] { runnable.planned.diagnostics.diagnostics }

    /// Runs the batch with as many concurrent jobs as the processors permit, and reports events to `observer`.
    /// Cancelling the task cancels running jobs and starts no others. Returns the results in the order in which the
    /// jobs ended.
    public func run(observer: (any RunObserver)? = nil) async -> [JobRecord] {
        let runner = runnable.runner(
            state: state, performer: LocalPerformer(environment), observer: observer ?? NoObserver())
        return await withTaskCancellationHandler {
            await runner.run()
        } onCancel: {
            runner.cancel()
        }
    }
}

/// An observer that ignores all events.
private struct NoObserver: RunObserver {
    func jobStarted(_ plan: JobPlan) {}
    func jobFinished(_ record: JobRecord) {}
}
