internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobPlan
internal import JobRun
internal import JobSpec
internal import LibAV
internal import Media

/// The execution of a runnable plan, from the first job to the reports: the last stage of a `RunSession`.
struct RunExecution {
    let runnable: Pipeline.Runnable
    /// Job files as loaded, before patterns were expanded.
    let set: JobFileSet
    /// State of earlier runs, to which this run is added.
    let state: RunState
    /// Cache of outputs; nil if none is used.
    let cache: ContentCache?
    /// Pool of workers; nil if media are read in this process.
    let pool: WorkerPool?
    /// Saved plan that is executed; nil if the run created its plan.
    let saved: SavedPlan?
    let options: RunOptions
    /// Start of the command, in seconds since 1970.
    let begun: Double

    struct Result {
        /// Records of the jobs, in the order in which they ended.
        let records: [JobRecord]
        /// Failures and warnings about outputs, with their locations.
        let details: DiagnosticSink
        let status: RunStatus
        /// Report as written to `--report`.
        let report: RunReport
        /// Messages for the user, such as about files that could not be written.
        let messages: [String]
    }

    /// Runs the jobs, displays their progress and writes the reports. `onStart` is called directly before the first job
    /// can start; signals before that end the process.
    /// - Throws: An environment error if the state can't be written. No job has been started in this case.
    func run(
        events: EventWriter?, signals: SignalWatch?, onStart: () -> Void
    ) async throws(EngineError) -> Result {
        // With SIGPIPE ignored, writing to a closed pipe fails with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let display = ProgressDisplay(
            on: options.console,
            renderer: TextRenderer(sources: set.texts, usesColor: options.console.usesColor),
            verbosity: options.verbosity, rerunCommand: options.rerunCommand)
        var policy = options.policy
        if let pool { policy.passStatisticsFolder = pool.folder }
        policy.maxPreviews = options.destinations.wantsPreviews ? HTMLRenderer.maxPreviews : 0
        try StateLocation.convertingErrors { () throws(StateError) in try state.begin() }
        let worker: any WorkPerformer = pool ?? LocalPerformer(MediaEnvironment(sources: set.access.sources))
        let runner = runnable.runner(
            policy, state: state,
            performer: cache.map { CachingPerformer(worker, cache: $0, state: state) } ?? worker,
            observer: ObserverGroup([display] + (events.map { [$0] } ?? [])))
        onStart()
        signals?.handle(
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
        let progress = saved?.writeProgress(of: runner)
        let records = state.warnings.adding(to: await runner.run())
        progress?.end()
        pool?.dismiss()
        let ranges = JobRanges(records.contains { !$0.warnings.isEmpty } ? planned.files : [])
        let details = display.end(records, refusals: planned.plan.refusals, location: ranges.range)
        return finish(records, details, events, signals?.status)
    }

    /// Writes event and report files, and records the end of the run in the state.
    private func finish(
        _ records: [JobRecord], _ details: DiagnosticSink, _ events: EventWriter?, _ signal: RunStatus?
    ) -> Result {
        var messages: [String] = []
        var status = signal ?? RunStatus(of: records.map(\.outcome))
        let warned = records.count { !$0.warnings.isEmpty }
        if status == .succeeded, options.strictness.warningsAreErrors, warned > 0 {
            messages.append(
                "error: \(counted(warned, "job")) with warnings, which are errors with --warnings-as-errors"
            )
            status = .jobFailed
        }
        let carried = RunStatus(of: options.carried.map(\.outcome))
        var report = RunReport(
            records + options.carried, files: set.files.map(\.path), begun: begun,
            seconds: Date().timeIntervalSince1970 - begun,
            status: (RunStatus.first(of: [status, carried]) ?? status).reportStatus)
        var previews = HTMLRenderer.previews(of: records)
        if options.destinations.wantsReport {
            state.reports.complete(
                &report, previews: &previews,
                limit: options.destinations.wantsPreviews ? HTMLRenderer.maxPreviews : 0
            )
        } else {
            state.reports.storeSearches(of: report)
        }
        messages += state.end(records, status: status.reportStatus).map {
            "warning: \($0); the next run may repeat finished jobs"
        }
        var problems = options.destinations.write(report, previews: previews)
        if let problem = events?.end(records, status: status.reportStatus) {
            problems.append("error: the events can't be written: \(problem)")
        }
        if let folder = saved?.folder, let shard = saved?.file.shard?.index {
            do throws(ShardFolder.Problem) {
                try folder.write(report, previews: previews, ofShard: shard)
                saved?.removeChunks(readBy: records)
            } catch {
                problems.append("error: \(error)")
            }
        }
        if let cache, let settings = options.cache {
            // A run that used nothing leaves the cache as it was, and doesn't list it.
            if cache.tally.used + cache.tally.stored > 0 { cache.reduce() }
            messages += settings.messages(cache.tally)
        }
        if !problems.isEmpty { status = .first(of: [status, .environment]) ?? status }
        return Result(
            records: records, details: details, status: status, report: report, messages: messages + problems)
    }
}

/// The locations of jobs in the job files, for warnings about their outputs.
private struct JobRanges {
    private let ranges: [JobKey: SourceRange]

    init(_ files: [JobFile]) {
        ranges = Dictionary(
            files.flatMap { file in
                file.jobs.map { (file.key(of: $0), $0.id.range) }
            },
            uniquingKeysWith: { first, _ in first })
    }

    func range(of record: JobRecord) -> SourceRange? { ranges[record.key] }
}
