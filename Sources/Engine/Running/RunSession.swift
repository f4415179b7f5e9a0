package import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
package import JobRun
internal import JobSpec
internal import LibAV
internal import Media

/// A run of a batch, from the first job to the reports.
package struct RunSession: Sendable {
    /// The plan.
    package let runnable: Pipeline.Runnable
    /// The job files as loaded.
    package let set: JobFileSet
    /// The state of earlier runs, in which this one is recorded.
    package let state: RunState
    /// The workers; nil where media are read in this process.
    package let pool: WorkerPool?
    /// The files to write.
    package let destinations: ReportDestinations
    /// The plan on disk that is carried out; nil where the run planned by itself.
    package let saved: SavedPlan?
    /// Whether warnings about outputs are errors.
    package let strictness: Pipeline.Strictness
    private let begun: Double

    /// Prepares a run that began when `unfinished` did. Nothing is started.
    package init(
        _ runnable: Pipeline.Runnable, of set: JobFileSet, state: RunState, pool: WorkerPool?,
        destinations: ReportDestinations, saved: SavedPlan?, strictness: Pipeline.Strictness,
        following unfinished: UnfinishedRun
    ) {
        begun = unfinished.begun
        self.runnable = runnable
        self.set = set
        self.state = state
        self.pool = pool
        self.destinations = destinations
        self.saved = saved
        self.strictness = strictness
    }

    /// Results of a run.
    package struct Result: Sendable {
        /// The jobs in the order in which they ended.
        package let records: [JobRecord]
        /// Failures, and warnings about outputs, each at its line.
        package let details: DiagnosticSink
        /// The exit status.
        package let status: RunStatus
        /// The report as written to `--report`.
        package let report: RunReport
        /// Messages for people: files that couldn't be written, a state that couldn't be updated.
        package let messages: [String]
    }

    /// Runs the jobs, shows them on `display`, and writes the reports. `onStart` is called when nothing can keep the
    /// first job from starting; a signal before it ends the process.
    /// - Throws: an environment error where the state can't be written; nothing was started then.
    package func run(
        _ policy: RunPolicy, display: ProgressDisplay, events: EventWriter?, signals: SignalWatch,
        onStart: () -> Void
    ) async throws(EngineError) -> Result {
        // A reader that went away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var policy = policy
        if let pool { policy.notesFolder = pool.folder }
        policy.previews = destinations.wantsPreviews ? HTMLRenderer.previews : 0
        try StateLocation.converting { () throws(StateError) in try state.begin() }
        let runner = runnable.runner(
            policy, state: state,
            performer: pool ?? LocalPerformer(MediaEnvironment(sources: set.access.sources)),
            observer: ObserverGroup([display] + (events.map { [$0] } ?? [])))
        onStart()
        signals.handle(
            SignalWatch.Handlers(
                onFirstInterrupt: {
                    display.say(
                        "interrupted: running jobs finish, no further one starts; once more cancels them")
                    runner.stopAdmitting()
                }, onCancel: { runner.cancel() }))
        let planned = runnable.planned
        events?.begin(planned.plan, files: set.files.map(\.path), runner: runner)
        display.begin(runner)
        let records = state.withWarnings(await runner.run())
        pool?.dismiss()
        let places = JobPlaces(records.contains { !$0.warnings.isEmpty } ? planned.files : [])
        let details = display.end(records, refusals: planned.plan.refusals, place: places.range)
        return finish(records, details, events, signals.status)
    }

    /// Writes what programs and pages read, and ends the run in the state.
    private func finish(
        _ records: [JobRecord], _ details: DiagnosticSink, _ events: EventWriter?, _ signal: RunStatus?
    ) -> Result {
        var messages: [String] = []
        var status = signal ?? Self.status(of: records.map(\.outcome))
        let warned = records.count { !$0.warnings.isEmpty }
        if status == .succeeded, strictness.warningsAreErrors, warned > 0 {
            messages.append(
                "error: \(warned == 1 ? "an output has" : "\(warned) outputs have") warnings, and under --warnings-as-errors these are errors"
            )
            status = .jobFailed
        }
        var report = RunReport(
            records, files: set.files.map(\.path), begun: begun,
            seconds: Date().timeIntervalSince1970 - begun, status: status.word)
        var previews = HTMLRenderer.previews(of: records)
        if destinations.wantsReport {
            state.complete(
                &report, previews: &previews, most: destinations.wantsPreviews ? HTMLRenderer.previews : 0)
        }
        messages += state.end(records, status: report.status).map {
            "warning: \($0); the next run may do more than it must"
        }
        var problems = destinations.write(report, previews: previews)
        if let problem = events?.end(records, status: report.status) {
            problems.append("error: the events can't be written: \(problem)")
        }
        if let folder = saved?.folder, let shard = saved?.file.shard?.index {
            do throws(ShardFolder.Problem) {
                try folder.write(report, previews: previews, ofShard: shard)
            } catch {
                problems.append("error: \(error)")
            }
        }
        if !problems.isEmpty, status == .succeeded { status = .environment }
        return Result(
            records: records, details: details, status: status, report: report, messages: messages + problems)
    }

    /// The exit status of outcomes. Jobs that weren't run waited for others, whose own outcome counts.
    static func status(of outcomes: [JobOutcome]) -> RunStatus {
        let bad = outcomes.filter { !$0.isSuccess }
        if bad.isEmpty { return .succeeded }
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
}

/// Source locations of jobs, for messages about their outputs.
private struct JobPlaces {
    private let places: [JobKey: SourceRange]

    init(_ files: [JobFile]) {
        places = Dictionary(
            files.flatMap { file in
                file.jobs.map { (JobKey(file: file.path, id: $0.id.value), $0.id.range) }
            },
            uniquingKeysWith: { first, _ in first })
    }

    func range(of record: JobRecord) -> SourceRange? { places[JobKey(file: record.file, id: record.id)] }
}
