package import Diagnostics
internal import ExactStrings
internal import Glibc
package import JobPlan
package import JobRun
internal import JobSpec
package import JobStages

/// The output of a run on the command line.
package protocol RunOutput: Sendable {
    /// Whether diagnostics are printed once, at the end of the run, because programs read them.
    var hasSingleResult: Bool { get }
    /// Receives the job files, before any other call.
    func filesLoaded(_ set: JobFileSet)
    /// Prints diagnostics. `annotates`: whether annotations of GitHub Actions may be added to text.
    func report(_ diagnostics: DiagnosticSink, of set: JobFileSet, annotates: Bool) throws
    /// Prints a message, which may contain untrusted text.
    func printLine(_ line: String)
    /// Receives the report and all diagnostics of a run that has executed its jobs.
    func ended(_ report: RunReport, _ diagnostics: DiagnosticSink)
}

/// A run of job files, from loading to the reports, which `tandem run` executes. If it ends before the first job starts,
/// reports are written nevertheless.
package struct RunSession: Sendable {
    private let options: RunOptions
    private let output: any RunOutput
    private let unfinished: UnfinishedRun
    /// Signals of a process with several runs; nil if the run handles those of its process.
    private let givenSignals: SignalWatch?

    /// The end of a run.
    package struct Result: Sendable {
        package let status: RunStatus
        /// Records of the jobs; nil if the run ended before the first job could start.
        package var records: [JobRecord]?
        /// Errors and warnings that ended such a run.
        package var problems: [Diagnostic] = []
        /// The jobs that they concern, if that is known.
        package var rejectedJobs: Set<JobKey> = []
    }

    /// Creates a session, whose run starts now. `signals`: the watch of a process with several runs, whose handlers the run
    /// replaces.
    package init(_ options: RunOptions, output: any RunOutput, signals: SignalWatch? = nil) {
        self.options = options
        self.output = output
        givenSignals = signals
        unfinished = UnfinishedRun(options.destinations)
        if !options.reportsEarlyEnd { unfinished.disableReports() }
    }

    /// Loads, checks, plans and runs the job files, and writes the reports. Diagnostics of all stages are printed.
    /// - Throws: `EngineError` if the run can't start or its state can't be written.
    package func run() async throws -> Result {
        do {
            return try await execute()
        } catch let error as EngineError {
            if error.status != .usage { end(error.status) }
            throw error
        } catch let rejection as Rejected {
            end(rejection.status)
            return Result(
                status: rejection.status, problems: unfinished.problems, rejectedJobs: rejection.jobs)
        }
    }

    /// The end of a run by diagnostics, which are already printed.
    private struct Rejected: Error {
        let status: RunStatus
        /// The jobs that are the reason, if they are known.
        var jobs: Set<JobKey> = []
    }

    /// Writes the reports of a run that has executed no job.
    private func end(_ status: RunStatus) {
        for message in unfinished.writeReports(status) { output.printLine(message) }
    }

    // MARK: Stages

    private func execute() async throws -> Result {
        unfinished.setFiles(options.files)
        let signals = try options.handlesSignals ? watchSignals() : nil
        let (set, saved) = try load()
        var found = set.diagnostics
        let checked = try check(set, found)
        // On a shared file system, the only record of finished jobs is the marks of their outputs.
        let isShard = saved?.folder != nil
        let locks = isShard ? [] : try options.state.lock(set, waits: options.waits)
        defer { withExtendedLifetime(locks) {} }
        guard options.isCurrent() else { return Result(status: .succeeded) }
        let cache = try options.cache?.open(set.access)
        let pool = try options.workers.pool(in: locks.first?.folder, set.access)
        defer { pool?.close() }
        // With few jobs, the first worker starts while the state is read, which saves much of the run's time. With many
        // jobs, most may be up to date.
        if set.files.reduce(0, { $0 + $1.jobs.count }) < Self.maxJobsForPrestart { pool?.prestart() }
        let state =
            isShard
            ? RunState(isForced: options.isForced, environment: set.access.sources)
            : try options.state.open(set, isForced: options.isForced)
        let prober: any SourceProber = pool ?? set.access.prober
        let runnable = try plan(
            checked, set, saved, state,
            CachingProber(prober, cache: cache, state: state), &found)
        let events = try openEvents(runnable)
        try saved?.check(runnable.planned.plan)
        let executed = try saved?.executed(runnable) ?? runnable
        try warn(runnable.planned.warnings, of: set, &found)
        let execution = RunExecution(
            runnable: executed, set: set, state: state, cache: cache, pool: pool, saved: saved,
            options: options,
            begun: unfinished.begun)
        let result = try await execution.run(
            events: events, signals: signals, onStart: unfinished.disableReports)
        found.add(result.details)
        if output.hasSingleResult { try output.report(found, of: set, annotates: true) }
        for message in result.messages { output.printLine(message) }
        output.ended(result.report, found)
        options.workers.report(pool)
        return Result(status: result.status, records: result.records)
    }

    private static let maxJobsForPrestart = 100

    /// Handles signals. Until jobs run, a signal ends the process and its workers.
    private func watchSignals() throws -> SignalWatch {
        let exit = { @Sendable (number: Int32) in
            { @Sendable in
                end(.interrupted)
                _exit(128 + number)
            }
        }
        let handlers = SignalWatch.Handlers(onFirstInterrupt: exit(SIGINT), onCancel: exit(SIGTERM))
        guard let givenSignals else { return try SignalWatch(handlers) }
        givenSignals.handle(handlers)
        // A signal just before isn't handled again.
        if let status = givenSignals.status { throw Rejected(status: status) }
        return givenSignals
    }

    /// Reads the job files, and the saved plan if there is one, which must fit them.
    private func load() throws(EngineError) -> (set: JobFileSet, saved: SavedPlan?) {
        let access = try SourceAccess.granted(
            root: options.root, isUntrusted: options.isUntrusted, allowsNetwork: options.allowsNetwork,
            for: options.files)
        var saved: SavedPlan?
        if let path = options.plan {
            saved = try SavedPlan(reading: path, shard: options.shard, beneath: access.root)
        }
        let set = JobFileSet(
            files: saved?.file.files ?? options.files, variables: saved?.file.variables ?? options.variables,
            access: access)
        output.filesLoaded(set)
        try saved?.check(set)
        unfinished.setFiles(set.paths)
        unfinished.setDiagnostics(set.diagnostics, in: set.files)
        return (set, saved)
    }

    private func check(_ set: JobFileSet, _ found: DiagnosticSink) throws -> Pipeline.Checked {
        let status = options.strictness.status(of: found)
        if !output.hasSingleResult || status != nil {
            try output.report(found, of: set, annotates: status != nil)
        }
        do throws(Pipeline.Rejection) {
            return try set.loaded.checked(options.strictness)
        } catch {
            throw Rejected(status: error.status)
        }
    }

    /// Opens encoders and plans the jobs.
    private func plan(
        _ checked: Pipeline.Checked, _ set: JobFileSet, _ saved: SavedPlan?, _ state: RunState,
        _ prober: any SourceProber, _ found: inout DiagnosticSink
    ) throws -> Pipeline.Runnable {
        let opened: Pipeline.Opened
        do throws(Pipeline.Rejection) {
            opened = try checked.opened(by: prober)
        } catch {
            found.add(error.diagnostics)
            unfinished.setDiagnostics(found, in: set.files)
            try output.report(
                output.hasSingleResult ? found : error.diagnostics, of: set, annotates: true)
            throw Rejected(status: error.status)
        }
        let planned = opened.planned(
            only: options.only, as: saved.flatMap { $0.file.shard == nil ? nil : $0.file.plan },
            selecting: options.selected, occupied: occupied,
            memory: saved == nil ? state : FullPlanMemory(state))
        do throws(Pipeline.Rejection) {
            return try planned.runnable()
        } catch {
            if !output.hasSingleResult { found = DiagnosticSink() }
            found.add(error.diagnostics)
            unfinished.setDiagnostics(found, in: set.files)
            try output.report(found, of: set, annotates: true)
            throw Rejected(status: error.status, jobs: planned.conflictingJobs)
        }
    }

    /// Outputs of jobs that earlier runs of a series executed, by path.
    private var occupied: [ExactString: JobKey] {
        var jobs: [ExactString: JobKey] = [:]
        for record in options.carried {
            for path in record.upToDateOutputs.flatMap(\.files) { jobs[path.exact] = record.key }
        }
        return jobs
    }

    /// Opens the event file. Throws if a report would overwrite a file of the run.
    private func openEvents(_ runnable: Pipeline.Runnable) throws(EngineError) -> EventWriter? {
        let planned = runnable.planned
        if let problem = options.destinations.problem(with: planned.plan, of: planned.files) {
            unfinished.disableReports()
            throw EngineError(.environment, problem)
        }
        return try options.destinations.eventWriter()
    }

    /// Prints the plan's warnings. If they count as errors, the run ends.
    private func warn(_ warnings: DiagnosticSink, of set: JobFileSet, _ found: inout DiagnosticSink) throws {
        guard warnings.hasWarnings else { return }
        found.add(warnings)
        let status = options.strictness.status(of: warnings)
        if !output.hasSingleResult || status != nil {
            try output.report(
                output.hasSingleResult ? found : warnings, of: set, annotates: status != nil)
        }
        if let status {
            unfinished.setDiagnostics(found, in: set.files)
            throw Rejected(status: status)
        }
    }
}
