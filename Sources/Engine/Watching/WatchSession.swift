internal import ExactStrings
internal import JobPlan
internal import JobSpec
package import JobStages
internal import Media

/// A series of runs of job files, each with the jobs whose files have appeared or changed, which `tandem watch` executes. It ends
/// by a signal.
///
/// A batch of jobs is a run like that of `tandem run`, which treats the other jobs, whose files are missing or incomplete, as if
/// the job files didn't contain them. A failed job is run again only after one of its files, or the job file, has changed.
package struct WatchSession: Sendable {
    /// The options of a series of runs.
    package struct Options: Sendable {
        /// Options of each run. Its files, and not a saved plan, are watched.
        package var run: RunOptions
        /// Time for which a file is unchanged before it counts as complete.
        package var settlingTime = Duration.seconds(2)

        /// Creates options. `settling` is the time in the syntax of job files; nil for the default.
        package init(run: RunOptions, settling: String? = nil) {
            self.run = run
            if let time = settling.flatMap(Language.settlingTime.parse) {
                settlingTime = .seconds(time.seconds)
            }
        }

        /// Returns the reason why a settling time is invalid; nil if it is valid.
        package static func problem(settling text: String?) -> String? {
            guard let text, Language.settlingTime.parse(text) == nil else { return nil }
            return "--settle must be a time from 0.1 to 3600 seconds, such as 5s or 1:00"
        }
    }

    private let options: Options
    private let output: any RunOutput

    package init(_ options: Options, output: any RunOutput) {
        (self.options, self.output) = (options, output)
    }

    /// Runs batches until a signal arrives.
    /// - Returns: The status of the job files, if they have errors at the start; that of the batch that a signal ended; or
    ///   success, if the signal arrived between batches.
    /// - Throws: `EngineError` if the system refuses to watch, or if the state or a report can't be written.
    package func run() async throws -> RunStatus {
        let events = WatchEvents()
        let idle = SignalWatch.Handlers(onFirstInterrupt: events.wake, onCancel: events.wake)
        let signals = try SignalWatch(idle)
        let access = try SourceAccess.granted(
            root: options.run.root, isUntrusted: options.run.isUntrusted,
            allowsNetwork: options.run.allowsNetwork, for: options.run.files)
        let watcher = try FolderWatcher(beneath: access.root, onChange: events.wake)
        let printer = OncePrinter(output)
        var files = WatchedFiles(options, access: access)
        if let status = try files.load(printer, options.run.strictness) { return status }
        var (jobs, messages) = (WatchedJobs(), WaitMessages(isVerbose: options.run.verbosity == .verbose))
        var batches = 0
        while signals.status == nil {
            let begun = ContinuousClock.now
            let inputs = files.examine(at: begun)
            // Changes before a folder was watched aren't reported, so that it is examined again.
            if watcher.watch(files.folders) { continue }
            var next: ContinuousClock.Instant?
            switch files.change {
            case .none:
                let assessment = jobs.assess(inputs, state: files.settling.state)
                next = assessment.next
                if !assessment.due.isEmpty {
                    var run = options.run
                    (run.omitted, run.carried) = (assessment.omitted, jobs.carried(assessment))
                    (run.waits, run.handlesSignals) = (true, true)
                    run.destinations.appendsEvents = batches > 0
                    batches += 1
                    let result = try await RunSession(run, output: printer, signals: signals).run()
                    signals.handle(idle)
                    if signals.status != nil { return result.status }
                    jobs.add(result.records, of: assessment)
                    continue
                }
                if options.run.verbosity != .quiet {
                    let lines =
                        messages.lines(assessment.waits, at: begun)
                        + messages.lines(
                            reportsAllChanges: watcher.reportsAllChanges, every: Self.shortInterval)
                    for line in lines { output.printLine(line) }
                }
            case .incomplete(let end): next = end
            case .complete:
                output.printLine("the job files have changed")
                printer.forget()
                jobs.reset()
                _ = try files.load(printer, options.run.strictness)
                continue
            }
            let limit = begun + (watcher.reportsAllChanges ? Self.interval : Self.shortInterval)
            // While files appear one after another, most of the time is left for other programs.
            let pause = min(max(.milliseconds(100), (ContinuousClock.now - begun) * 4), .seconds(2))
            try? await Task.sleep(for: pause)
            await events.wait(until: min(next ?? limit, limit))
        }
        return .succeeded
    }

    /// Time after which folders are examined although no change was reported.
    private static let interval = Duration.seconds(60)
    /// The time if not all changes are reported.
    private static let shortInterval = Duration.seconds(5)
}
