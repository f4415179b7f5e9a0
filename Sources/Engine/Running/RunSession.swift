package import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
package import JobRun
internal import JobSpec
internal import LibAV
internal import Media

/// The execution of a runnable plan, from the first job to the reports.
package struct RunSession: Sendable {
    package let runnable: Pipeline.Runnable
    /// Job files as loaded, before patterns were expanded.
    package let set: JobFileSet
    /// State of earlier runs, to which this run is added.
    package let state: RunState
    /// Pool of workers; nil if media are read in this process.
    package let pool: WorkerPool?
    /// Report and event files to write.
    package let destinations: ReportDestinations
    /// Saved plan that is executed; nil if the run created its plan.
    package let saved: SavedPlan?
    /// Whether warnings about outputs are errors.
    package let strictness: Pipeline.Strictness
    private let begun: Double

    /// Creates a session with the start time of `unfinished`. No job is started.
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

    package struct Result: Sendable {
        /// Records of the jobs, in the order in which they ended.
        package let records: [JobRecord]
        /// Failures and warnings about outputs, with their locations.
        package let details: DiagnosticSink
        package let status: RunStatus
        /// Report as written to `--report`.
        package let report: RunReport
        /// Messages for the user, such as about files that could not be written.
        package let messages: [String]
    }

    /// Runs the jobs, displays their progress and writes the reports. `onStart` is called directly before the first job
    /// can start; signals before that end the process.
    /// - Throws: An environment error if the state can't be written. No job has been started in this case.
    package func run(
        _ policy: RunPolicy, display: ProgressDisplay, events: EventWriter?, signals: SignalWatch,
        onStart: () -> Void
    ) async throws(EngineError) -> Result {
        // With SIGPIPE ignored, writing to a closed pipe fails with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        var policy = policy
        if let pool { policy.passStatisticsFolder = pool.folder }
        policy.maxPreviews = destinations.wantsPreviews ? HTMLRenderer.maxPreviews : 0
        try StateLocation.convertingErrors { () throws(StateError) in try state.begin() }
        let runner = runnable.runner(
            policy, state: state,
            performer: pool ?? LocalPerformer(MediaEnvironment(sources: set.access.sources)),
            observer: ObserverGroup([display] + (events.map { [$0] } ?? [])))
        onStart()
        signals.handle(
            SignalWatch.Handlers(
                onFirstInterrupt: {
                    display.printLine(
                        "interrupted: running jobs finish, and no further job starts; interrupt again to cancel them"
                    )
                    runner.stopAdmitting()
                }, onCancel: { runner.cancel() }))
        let planned = runnable.planned
        events?.begin(planned.plan, files: set.files.map(\.path), runner: runner)
        display.begin(runner)
        let records = state.withWarnings(await runner.run())
        pool?.dismiss()
        let ranges = JobRanges(records.contains { !$0.warnings.isEmpty } ? planned.files : [])
        let details = display.end(records, refusals: planned.plan.refusals, location: ranges.range)
        return finish(records, details, events, signals.status)
    }

    /// Writes event and report files, and records the end of the run in the state.
    private func finish(
        _ records: [JobRecord], _ details: DiagnosticSink, _ events: EventWriter?, _ signal: RunStatus?
    ) -> Result {
        var messages: [String] = []
        var status = signal ?? Self.status(of: records.map(\.outcome))
        let warned = records.count { !$0.warnings.isEmpty }
        if status == .succeeded, strictness.warningsAreErrors, warned > 0 {
            messages.append(
                "error: \(counted(warned, "job")) with warnings, which are errors with --warnings-as-errors"
            )
            status = .jobFailed
        }
        var report = RunReport(
            records, files: set.files.map(\.path), begun: begun,
            seconds: Date().timeIntervalSince1970 - begun, status: status.reportStatus)
        var previews = HTMLRenderer.previews(of: records)
        if destinations.wantsReport {
            state.complete(
                &report, previews: &previews, limit: destinations.wantsPreviews ? HTMLRenderer.maxPreviews : 0
            )
        }
        messages += state.end(records, status: report.status).map {
            "warning: \($0); the next run may repeat finished jobs"
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

    /// Returns the status of a run with the given outcomes. Jobs that were not started are ignored, because the failure
    /// of their dependency counts.
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

/// The locations of jobs in the job files, for warnings about their outputs.
private struct JobRanges {
    private let ranges: [JobKey: SourceRange]

    init(_ files: [JobFile]) {
        ranges = Dictionary(
            files.flatMap { file in
                file.jobs.map { (JobKey(file: file.path, id: $0.id.value), $0.id.range) }
            },
            uniquingKeysWith: { first, _ in first })
    }

    func range(of record: JobRecord) -> SourceRange? { ranges[JobKey(file: record.file, id: record.id)] }
}
