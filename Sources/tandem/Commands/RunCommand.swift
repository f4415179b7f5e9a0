internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
internal import JobRun
internal import JobSpec
internal import LibAV
internal import Media

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plans job files and carries them out.",
        discussion: """
            The first interrupt (Ctrl-C) starts no further job and lets running ones finish; the second, and SIGTERM, cancel \
            at once. A job that does not succeed leaves nothing behind.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var reporting: ReportArguments

    @Option(
        help: "Carries out a plan that `tandem plan --out` wrote, and refuses where anything changed since.",
        completion: .file())
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "With --plan DIR: the part to carry out, from 0; from SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX when absent.",
            valueName: "index"))
    var shard: Int?

    @Option(
        name: .shortAndLong,
        help: "Maximum number of concurrent jobs (default: chosen from the jobs' estimated CPU cost).")
    var jobs: Int?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Only this job (or run of one), and what it reads or needs; may be given several times.",
            valueName: "id"))
    var only: [String] = []

    @Flag(help: "Runs jobs whose outputs are up to date, too.")
    var force = false

    @Flag(
        exclusivity: .exclusive,
        help: ArgumentHelp("After a failure: start nothing more, or carry on with jobs that don't need it."))
    var afterFailure = AfterFailure.keepGoing

    @Flag(help: "Waits for a run that uses the state folder, instead of failing.")
    var wait = false

    @OptionGroup var outputs: RunOutputs
    @OptionGroup var happening: EventArguments

    @Flag(help: "Keeps an output that fails its expectations, as NAME.failed.EXT beside its destination.")
    var keepFailed = false

    @Flag(exclusivity: .exclusive, help: "Print only errors; or also list jobs that are up to date.")
    var verbosity = Talk.normal

    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments

    enum AfterFailure: String, EnumerableFlag {
        case failFast, keepGoing
    }

    enum Talk: String, EnumerableFlag {
        case quiet, verbose, normal

        static func visibility(for value: Talk) -> ArgumentVisibility {
            value == .normal ? .hidden : .default
        }

        static func name(for value: Talk) -> NameSpecification {
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
        if plan != nil, !spec.files.isEmpty || !spec.settings.variables.isEmpty {
            throw ValidationError("--plan names the job files and variables itself")
        }
        if shard != nil, plan == nil { throw ValidationError("--shard wants --plan DIR") }
        if plan != nil, !only.isEmpty {
            throw ValidationError("--plan is carried out as a whole; plan with --only")
        }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs is a number from 1 to 256") }
    }

    func run() async throws {
        let unfinished = UnfinishedRun(outputs, events: happening.events)
        do {
            try await carryOut(unfinished)
        } catch let status as ExitCode {
            unfinished.end(Self.word(status))
            throw status
        }
    }

    private func carryOut(_ unfinished: UnfinishedRun) async throws {
        unfinished.concerns(spec.files)
        // Until jobs run, a signal ends everything; workers end when this process has.
        let end = { @Sendable (number: Int32) in
            { @Sendable in
                unfinished.end("interrupted")
                _exit(128 + number)
            }
        }
        let signals = try SignalWatch(
            SignalWatch.Handlers(onFirstInterrupt: end(SIGINT), onCancel: end(SIGTERM)))
        let access = try spec.settings.access.granted(for: spec.files)
        let folder = plan.flatMap {
            Self.isFolder($0) ? ShardFolder(path: $0, beneath: access.sources.root) : nil
        }
        let saved = try folder.map { try readShard($0) } ?? plan.map { try readPlan($0) }
        let loader =
            try saved.map { JobFileLoader(files: $0.files, variables: $0.variables, access: access) }
            ?? spec.settings.load(spec.files, access: access)
        if let saved, let problem = saved.environmentProblem ?? saved.specProblem(now: loader.specs) {
            try refuse(problem)
        }
        unfinished.concerns(loader.paths)
        var told = loader.sink
        let wrong = reporting.status(of: loader.sink)
        unfinished.found(told, in: loader.files)
        if !isOne || wrong != nil { try reporting.report(told, of: loader, annotates: wrong != nil) }
        if let wrong { throw wrong }
        let begun = Date().timeIntervalSince1970
        // On a shared file system nothing is remembered but in the outputs themselves.
        let locks = folder == nil ? try state.lock(loader, waits: wait) : []
        let pool = try workers.pool(in: locks.first?.folder, access)
        defer { pool?.close() }
        // The first worker starts beside what comes before the first look: of a few jobs a large part of the time.
        // Of many, most may have nothing to do.
        if loader.files.reduce(0, { $0 + $1.jobs.count }) < Self.few { pool?.warm() }
        let memory =
            folder == nil
            ? try state.open(loader, isForced: force)
            : RunState(isForced: force, environment: access.sources)
        let result = try planned(loader, saved, memory, pool, &told, unfinished)
        let paths = outputs.paths(with: happening.events)
        if let problem = RunOutputs.problem(writing: paths, with: result.plan, of: result.files) {
            unfinished.isOver()
            Terminal.say("error: \(problem)")
            throw ExitCode.environment
        }
        let events = try happening.writer()
        if let problem = saved?.planProblem(now: result.plan) { try refuse(problem) }
        try warn(of: result, loader, &told)
        let (records, details) = try await conduct(
            result, loader, memory, pool, events, signals, unfinished)
        if isOne {
            told.add(details)
            try reporting.report(told, of: loader)
        }
        let status = signals.status ?? status(of: records)
        var report = RunReport(
            records, files: loader.files.map(\.path), begun: begun,
            seconds: Date().timeIntervalSince1970 - begun, status: Self.word(status))
        let isWritten = write(&report, of: records, memory, events, folder, saved?.shard?.index)
        if !isOne { told.add(details) }
        RunOutputs.tellGitHub(report, reporting.format == .github ? DiagnosticSink() : told)
        workers.say(pool)
        withExtendedLifetime(locks) {}
        if let status { throw status }
        if !isWritten { throw ExitCode.environment }
    }

    /// For programs there is one answer, at the end.
    private var isOne: Bool { reporting.isForPrograms }

    /// Tries settings out and plans; ends where something stands against all of it.
    private func planned(
        _ loader: JobFileLoader, _ saved: PlanFile?, _ memory: RunState, _ pool: WorkerPool?,
        _ told: inout DiagnosticSink, _ unfinished: UnfinishedRun
    ) throws -> BatchPlanner.Result {
        let tried = (pool ?? loader.access.prober as any SourceProber).tryOut(loader.files)
        if let wrong = reporting.status(of: tried) {
            told.add(tried)
            unfinished.found(told, in: loader.files)
            try reporting.report(isOne ? told : tried, of: loader)
            throw wrong
        }
        let result = BatchPlanner.plan(
            loader.files, only: only, as: saved?.shard == nil ? nil : saved?.plan,
            memory: saved == nil ? memory : FullPlanMemory(memory), prober: pool ?? loader.access.prober)
        if result.conflicts.hasErrors {
            if !isOne { told = DiagnosticSink() }
            told.add(result.conflicts)
            unfinished.found(told, in: loader.files)
            try reporting.report(told, of: loader)
            throw ExitCode.specWrong
        }
        return result
    }

    /// Tells the plan's warnings, which can be errors.
    private func warn(
        of result: BatchPlanner.Result, _ loader: JobFileLoader, _ told: inout DiagnosticSink
    ) throws {
        var warnings = DiagnosticSink()
        for diagnostic in result.diagnostics.diagnostics where diagnostic.severity == .warning {
            warnings.add(diagnostic)
        }
        guard warnings.hasWarnings else { return }
        told.add(warnings)
        let isOver = reporting.warningsAsErrors
        if !isOne || isOver {
            try reporting.report(isOne ? told : warnings, of: loader, annotates: isOver)
        }
        if isOver { throw ExitCode.specWrong }
    }

    /// Runs the plan, and shows how far it is.
    private func conduct(
        _ result: BatchPlanner.Result, _ loader: JobFileLoader, _ memory: RunState, _ pool: WorkerPool?,
        _ events: EventWriter?, _ signals: SignalWatch, _ unfinished: UnfinishedRun
    ) async throws -> (records: [JobRecord], details: DiagnosticSink) {
        // A reader that went away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let display = ProgressDisplay(
            renderer: loader.renderer, verbosity: verbosity.verbosity, again: again)
        var policy = RunPolicy(budget: .ofThisMachine(jobs: jobs))
        policy.keepsFailed = keepFailed
        policy.failsFast = afterFailure == .failFast
        if let pool { policy.notesFolder = pool.folder }
        policy.previews = outputs.wantsPreviews ? HTMLRenderer.previews : 0
        try StateArguments.must { () throws(StateError) in try memory.begin() }
        let runner = BatchRunner(
            plan: result.plan, files: result.files, policy: policy, state: memory,
            performer: pool ?? LocalPerformer(MediaEnvironment(sources: loader.access.sources)),
            prober: pool ?? loader.access.prober,
            observer: ObserverGroup([display] + (events.map { [$0] } ?? [])))
        unfinished.isOver()
        signals.handle(
            SignalWatch.Handlers(
                onFirstInterrupt: {
                    display.say(
                        "interrupted: running jobs finish, no further one starts; once more cancels them")
                    runner.stopAdmitting()
                }, onCancel: { runner.cancel() }))
        events?.begin(result.plan, files: loader.files.map(\.path), runner: runner)
        display.begin(runner)
        let records = memory.withWarnings(await runner.run())
        pool?.dismiss()
        let places = Places(records.contains { !$0.warnings.isEmpty } ? result.files : [])
        return (records, display.end(records, refusals: result.plan.refusals, place: places.of))
    }

    /// Jobs' outcomes, and where they are asked to be errors, their warnings.
    private func status(of records: [JobRecord]) -> ExitCode? {
        if let status = Self.status(of: records.map(\.outcome)) { return status }
        let count = records.count { !$0.warnings.isEmpty }
        guard reporting.warningsAsErrors, count > 0 else { return nil }
        Terminal.say(
            "error: \(count == 1 ? "an output has" : "\(count) outputs have") warnings, and under --warnings-as-errors these are errors"
        )
        return .jobFailed
    }

    /// Writes what programs and pages read, and ends the run in the state. False where something could not be written.
    private func write(
        _ report: inout RunReport, of records: [JobRecord], _ memory: RunState, _ events: EventWriter?,
        _ folder: ShardFolder?, _ shard: Int?
    ) -> Bool {
        var previews = HTMLRenderer.previews(of: records)
        if outputs.wantsReport {
            memory.complete(
                &report, previews: &previews, most: outputs.wantsPreviews ? HTMLRenderer.previews : 0)
        }
        for problem in memory.end(records, status: report.status) {
            Terminal.say("warning: \(problem); the next run may do more than it must")
        }
        var isWritten = outputs.write(report, previews: previews)
        if let problem = events?.end(records, status: report.status) {
            isWritten = false
            Terminal.say("error: the events can't be written: \(problem)")
        }
        if let folder, let shard {
            do throws(ShardFolder.Problem) {
                try folder.write(report, previews: previews, ofShard: shard)
            } catch {
                isWritten = false
                Terminal.say("error: \(error)")
            }
        }
        return isWritten
    }

    private static let few = 100

    /// Where jobs stand, for what is said of their outputs.
    private struct Places {
        private let places: [JobKey: SourceRange]

        init(_ files: [JobFile]) {
            places = Dictionary(
                files.flatMap { file in
                    file.jobs.map { (JobKey(file: file.path, id: $0.id.value), $0.id.range) }
                },
                uniquingKeysWith: { first, _ in first })
        }

        func of(_ record: JobRecord) -> SourceRange? { places[JobKey(file: record.file, id: record.id)] }
    }

    /// What is typed to do what is left: the same, and where a plan doesn't say which jobs, those.
    private var again: ProgressDisplay.Again {
        var words: [String] = []
        var arguments = CommandLine.arguments.dropFirst()
        while let word = arguments.popFirst() {
            if word == "--only" { _ = arguments.popFirst() }
            if word == "--only" || word == "--force" || word.hasPrefix("--only=") { continue }
            words.append(word)
        }
        return ProgressDisplay.Again(words: words, takesNames: plan == nil)
    }

    private static func word(_ status: ExitCode?) -> String {
        switch status {
        case nil: "succeeded"
        case .interrupted?, .terminated?: "interrupted"
        default: "failed"
        }
    }

    /// Jobs that were not run waited for others, whose own outcome says it.
    private static func status(of outcomes: [JobOutcome]) -> ExitCode? {
        let bad = outcomes.filter { !$0.isSuccess }
        if bad.isEmpty { return nil }
        var hasFailedExpectation = false
        for outcome in bad {
            switch outcome {
            case .failed(let failure) where failure.rule == .expectationFailed: hasFailedExpectation = true
            case .notRun: continue
            default: return .jobFailed
            }
        }
        return hasFailedExpectation ? .expectationFailed : .jobFailed
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The part that is this process's to carry out.
    private func readShard(_ folder: ShardFolder) throws -> PlanFile {
        let names = ["SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"]
        let told = names.lazy.compactMap { getenv($0).flatMap { Int(String(cString: $0)) } }.first
        guard let index = shard ?? told, index >= 0 else {
            Terminal.say(
                "error: \(folder.path) is a plan in parts; --shard, SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX says which"
            )
            throw ExitCode.validationFailure
        }
        do throws(ShardFolder.Problem) {
            return try folder.shard(index)
        } catch {
            Terminal.say("error: \(error)")
            throw ExitCode.specWrong
        }
    }

    private func readPlan(_ path: String) throws -> PlanFile {
        do {
            return try PlanFile.read(try Data(contentsOf: URL(filePath: path)))
        } catch {
            Terminal.say("error: \(path) is no plan that can be read")
            throw ExitCode.specWrong
        }
    }

    private func refuse(_ problem: String) throws {
        Terminal.say("error: the plan is not carried out: \(problem); `tandem plan` makes a new one")
        throw ExitCode.specWrong
    }
}
