public import Diagnostics
internal import Dispatch
internal import Engine
public import FoundationEssentials
public import JobPlan
public import JobRun
internal import JobSpec
internal import LibAV
internal import Locking
public import Media

/// Job files, read and checked: what `tandem validate`, `plan` and `run` do, in this process.
///
/// Nothing is remembered but in the outputs' own marks: what is up to date by them is not made again.
public struct JobBatch: Sendable {
    private let checked: Pipeline.Checked
    /// Warnings about the job files.
    public let warnings: [Diagnostic]
    private let environment: MediaEnvironment

    /// Reads job files. `variables` win over the files' `vars`; the process's environment is not seen.
    /// - Throws: `ExportError` with everything that is wrong with them, each at its line.
    public init(
        contentsOf urls: [URL], variables: [String: String] = [:],
        environment: MediaEnvironment = MediaEnvironment()
    ) throws {
        var options = SpecOptions(allowsNetwork: environment.sources.allowsNetwork)
        options.variables = variables
        var files: [JobFile] = []
        var sink = DiagnosticSink()
        var known: Set<String> = []
        for url in urls {
            let result = JobFileDecoder.decode(contentsOf: url.path, options: options)
            if let file = result.file { files.append(file) }
            known.formUnion(result.variables)
            sink.add(result.sink)
        }
        options.checkVariables(known: known, at: .argument("variables"), into: &sink)
        if urls.isEmpty { sink.error(.fileUnreadable, "no job file is named", at: .argument("files")) }
        checked = try ExportError.converting { () throws(Pipeline.Rejection) in
            try Pipeline.Loaded(files: files, diagnostics: sink).checked()
        }
        self.environment = environment
        warnings = sink.diagnostics
    }

    /// Looks into the sources and decides everything (`tandem plan`); jobs that can't be carried out are among its `refusals`.
    /// `only` names jobs, without it all are meant.
    /// - Throws: `ExportError` where settings are none that this build takes, or outputs collide.
    public func plan(only: [String] = []) async throws -> PlannedBatch {
        try await DispatchQueue.global().result { try planNow(only) }
    }

    private func planNow(_ only: [String]) throws -> PlannedBatch {
        let state = RunState(isForced: false, environment: environment.sources)
        let runnable = try ExportError.converting { () throws(Pipeline.Rejection) in
            try checked.opened(by: LocalProber(environment))
                .planned(only: only, from: "only", memory: state).runnable()
        }
        return PlannedBatch(runnable: runnable, state: state, environment: environment)
    }
}

/// A batch of which everything is decided. It is carried out once.
public struct PlannedBatch: Sendable {
    private let runnable: Pipeline.Runnable
    private let state: RunState
    private let environment: MediaEnvironment

    init(runnable: Pipeline.Runnable, state: RunState, environment: MediaEnvironment) {
        self.runnable = runnable
        self.state = state
        self.environment = environment
    }

    /// What will be done, and what can't be.
    public var plan: BatchPlan { runnable.planned.plan }
    /// Everything that was found, errors of single jobs too.
    public var diagnostics: [Diagnostic] { runnable.planned.diagnostics.diagnostics }

    /// Carries it out, as many jobs at a time as keep the processors busy; `observer` hears of them. Where the task is cancelled, what
    /// runs is cancelled and nothing more begins. What became of each job is in the order in which they ended.
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
