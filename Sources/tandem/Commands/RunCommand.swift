internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import Glibc
internal import JobPlan
internal import JobRun
internal import JobSpec

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plan and run job files.",
        discussion: """
            After the first interrupt (Ctrl-C), running jobs finish and no further job starts; the second, and SIGTERM, cancel \
            running jobs. A job that doesn't succeed publishes no output.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var reporting: ReportArguments

    @Option(
        help: "Run a plan that `tandem plan --out` wrote; fails if anything has changed since.",
        completion: .file())
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "With --plan DIR: index of the part to run, from 0 (default: SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX).",
            valueName: "index"))
    var shard: Int?

    @Option(
        name: .shortAndLong,
        help: "Maximum number of concurrent jobs (default: chosen from the jobs' estimated CPU cost).")
    var jobs: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Run only this job or job instance, and the jobs that it requires; repeatable.",
            valueName: "id"))
    var only: [String] = []

    @Flag(help: "Also run jobs that are up to date.")
    var force = false

    @Flag(
        exclusivity: .exclusive,
        help: ArgumentHelp("After a failure: start no further job, or continue with independent jobs."))
    var afterFailure = AfterFailure.keepGoing

    @Flag(help: "If another run uses the state folder, wait for it instead of failing.")
    var wait = false

    @OptionGroup var outputs: RunOutputs
    @OptionGroup var eventArguments: EventArguments

    @Flag(help: "Keep an output that fails its expectations as NAME.failed.EXT beside its destination.")
    var keepFailed = false

    @Flag(exclusivity: .exclusive, help: "Print only errors, or also list jobs that are up to date.")
    var verbosity = VerbosityFlag.normal

    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments

    enum AfterFailure: String, EnumerableFlag {
        case failFast, keepGoing
    }

    enum VerbosityFlag: String, EnumerableFlag {
        case quiet, verbose, normal

        static func visibility(for value: VerbosityFlag) -> ArgumentVisibility {
            value == .normal ? .hidden : .default
        }

        static func name(for value: VerbosityFlag) -> NameSpecification {
            value == .normal ? .customLong("no-verbose") : .shortAndLong
        }

        var verbosity: ProgressDisplay.Verbosity {
            switch self {
            case .quiet: .quiet
            case .verbose: .verbose
            case .normal: .normal
            }
        }
    }

    func validate() throws {
        if plan != nil, !spec.files.isEmpty || !variables.variables.isEmpty {
            throw ValidationError("--plan can't be combined with job files or --set, which the plan contains")
        }
        if shard != nil, plan == nil { throw ValidationError("--shard requires --plan DIR") }
        if plan != nil, !only.isEmpty {
            throw ValidationError("--plan can't be combined with --only; create the plan with --only")
        }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs must be from 1 to 256") }
    }

    func run() async throws {
        let unfinished = UnfinishedRun(outputs.destinations(events: eventArguments.events))
        do {
            try await carryOut(unfinished)
        } catch let error as EngineError {
            if error.status != .usage { end(unfinished, error.status) }
            throw error
        } catch let code as ExitCode {
            if let status = RunStatus(rawValue: code.rawValue) { end(unfinished, status) }
            throw code
        }
    }

    private func end(_ unfinished: UnfinishedRun, _ status: RunStatus) {
        for message in unfinished.writeReports(status) { Terminal.reportLine(message) }
    }

    private func carryOut(_ unfinished: UnfinishedRun) async throws {
        unfinished.setFiles(spec.files)
        // Until jobs run, a signal ends the process and its workers.
        let end = { @Sendable (number: Int32) in
            { @Sendable in
                for message in unfinished.writeReports(.interrupted) { Terminal.reportLine(message) }
                _exit(128 + number)
            }
        }
        let signals = try SignalWatch(
            SignalWatch.Handlers(onFirstInterrupt: end(SIGINT), onCancel: end(SIGTERM)))
        let access = try self.access.granted(for: spec.files)
        let saved = try plan.map { path throws(EngineError) in
            try SavedPlan(reading: path, shard: shard, beneath: access.root)
        }
        let set =
            try saved.map { JobFileSet(files: $0.file.files, variables: $0.file.variables, access: access) }
            ?? variables.load(spec.files, access)
        try saved?.check(set)
        unfinished.setFiles(set.paths)
        var found = set.diagnostics
        unfinished.setDiagnostics(found, in: set.files)
        let status = reporting.strictness.status(of: found)
        if !hasSingleResult || status != nil {
            try reporting.report(found, of: set, annotates: status != nil)
        }
        let checked = try exitingOnRejection { () throws(Pipeline.Rejection) in
            try set.loaded.checked(reporting.strictness)
        }
        // On a shared file system, the only record of finished jobs is the marks of their outputs.
        let isShard = saved?.folder != nil
        let locks = isShard ? [] : try state.location.lock(set, waits: wait)
        let pool = try workers.settings.pool(in: locks.first?.folder, access)
        defer { pool?.close() }
        // With few jobs, the first worker starts while the state is read, which saves much of the run's time. With many
        // jobs, most may be up to date.
        if set.files.reduce(0, { $0 + $1.jobs.count }) < Self.maxJobsForPrestart { pool?.prestart() }
        let memory =
            isShard
            ? RunState(isForced: force, environment: access.sources)
            : try state.location.open(set, isForced: force)
        let runnable = try planned(checked, set, saved, memory, pool, &found, unfinished)
        let destinations = outputs.destinations(events: eventArguments.events)
        if let problem = destinations.problem(with: runnable.planned.plan, of: runnable.planned.files) {
            unfinished.disableReports()
            throw EngineError(.environment, problem)
        }
        let events = try destinations.eventWriter()
        try saved?.check(runnable.planned.plan)
        try warn(runnable.planned.warnings, of: set, &found)
        let session = RunSession(
            runnable, of: set, state: memory, pool: pool, destinations: destinations, saved: saved,
            strictness: reporting.strictness, following: unfinished)
        let display = ProgressDisplay(
            on: Terminal.console, renderer: set.renderer, verbosity: verbosity.verbosity,
            rerunCommand: rerunCommand)
        let result = try await session.run(
            policy, display: display, events: events, signals: signals, onStart: unfinished.disableReports)
        found.add(result.details)
        if hasSingleResult { try reporting.report(found, of: set) }
        for message in result.messages { Terminal.reportLine(message) }
        if GitHubActions.isActive {
            Terminal.print(
                GitHubActions.annotations(reporting.format == .github ? DiagnosticSink() : found))
            if !GitHubActions.summarize(result.report) {
                Terminal.reportLine("warning: the step summary can't be written")
            }
        }
        workers.settings.report(pool)
        withExtendedLifetime(locks) {}
        if result.status != .succeeded { throw ExitCode(result.status) }
    }

    /// Whether the command prints a single machine-readable result, at its end.
    private var hasSingleResult: Bool { reporting.isForPrograms }

    private var policy: RunPolicy {
        var policy = RunPolicy(budget: .ofThisMachine(jobs: jobs))
        policy.keepsFailed = keepFailed
        policy.failsFast = afterFailure == .failFast
        return policy
    }

    /// Runs a pipeline stage whose diagnostics are already printed. If it fails, exits with its status.
    private func exitingOnRejection<Stage>(_ stage: () throws(Pipeline.Rejection) -> Stage) throws -> Stage {
        do throws(Pipeline.Rejection) { return try stage() } catch { throw ExitCode(error.status) }
    }

    /// Opens encoders and plans the jobs. If a stage rejects the batch, prints the diagnostics and exits.
    private func planned(
        _ checked: Pipeline.Checked, _ set: JobFileSet, _ saved: SavedPlan?, _ state: RunState,
        _ pool: WorkerPool?, _ found: inout DiagnosticSink, _ unfinished: UnfinishedRun
    ) throws -> Pipeline.Runnable {
        let opened: Pipeline.Opened
        do throws(Pipeline.Rejection) {
            opened = try checked.opened(by: pool ?? set.access.prober)
        } catch {
            found.add(error.diagnostics)
            unfinished.setDiagnostics(found, in: set.files)
            try reporting.report(hasSingleResult ? found : error.diagnostics, of: set)
            throw ExitCode(error.status)
        }
        let planned = opened.planned(
            only: only, as: saved.flatMap { $0.file.shard == nil ? nil : $0.file.plan },
            memory: saved == nil ? state : FullPlanMemory(state))
        do throws(Pipeline.Rejection) {
            return try planned.runnable()
        } catch {
            if !hasSingleResult { found = DiagnosticSink() }
            found.add(error.diagnostics)
            unfinished.setDiagnostics(found, in: set.files)
            try reporting.report(found, of: set)
            throw ExitCode(error.status)
        }
    }

    /// Prints the plan's warnings. If they count as errors, exits.
    private func warn(_ warnings: DiagnosticSink, of set: JobFileSet, _ found: inout DiagnosticSink) throws {
        guard warnings.hasWarnings else { return }
        found.add(warnings)
        let status = reporting.strictness.status(of: warnings)
        if !hasSingleResult || status != nil {
            try reporting.report(hasSingleResult ? found : warnings, of: set, annotates: status != nil)
        }
        if let status { throw ExitCode(status) }
    }

    private static let maxJobsForPrestart = 100

    /// Command line that runs the remaining jobs.
    private var rerunCommand: ProgressDisplay.RerunCommand {
        ProgressDisplay.RerunCommand(
            arguments: CommandWords(CommandLine.arguments.dropFirst()).repeatingRun, acceptsNames: plan == nil
        )
    }
}
