internal import Glibc
internal import JobPlan
internal import JobRun
internal import JobSpec
package import JobStages
internal import Media

/// A series of runs of job files, each with the jobs whose files have appeared or changed, which `tandem watch` executes. It ends
/// by a signal.
///
/// A batch is a run like that of `tandem run`, of these jobs, those that depend on them, and those that they depend on. A failed
/// job is run again only after one of its files, or the job file, has changed.
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

    /// Runs batches until a signal arrives. Between batches, a signal ends the process with status 0.
    /// - Returns: The status of the job files, if they have errors at the start, or that of the batch that a signal ended.
    /// - Throws: `EngineError` if the system refuses to watch, or if the first batch can't start.
    package func run() async throws -> RunStatus {
        let access = try SourceAccess.granted(
            root: options.run.root, isUntrusted: options.run.isUntrusted,
            allowsNetwork: options.run.allowsNetwork, for: options.run.files)
        var watch = try Watch(options, output: output, access: access)
        if let status = try watch.begin() { return status }
        while true {
            if let status = try await watch.step() { return status }
        }
    }
}

/// The state of a watch between its steps.
private struct Watch {
    private let options: WatchSession.Options
    private let output: SeriesPrinter
    private let signals: SignalWatch
    private let events = WatchEvents()
    private let watcher: FolderWatcher
    private var files: WatchedFiles
    private var jobs = WatchedJobs()
    private var messages: WaitMessages
    /// Number of batches that have started.
    private var batches = 0

    /// Time after which folders are examined although no change was reported.
    private static let interval = Duration.seconds(60)
    /// The time if not all changes are reported, or if the job files have errors.
    private static let shortInterval = Duration.seconds(5)
    /// Time after which a batch that couldn't start is tried again.
    private static let retryInterval = Duration.seconds(30)
    /// Handlers while no job runs and no process was started.
    private static let idle: SignalWatch.Handlers = {
        let end: @Sendable () -> Void = { _exit(RunStatus.succeeded.rawValue) }
        return SignalWatch.Handlers(onFirstInterrupt: end, onCancel: end)
    }()

    init(_ options: WatchSession.Options, output: any RunOutput, access: SourceAccess) throws(EngineError) {
        self.options = options
        self.output = SeriesPrinter(output)
        signals = try SignalWatch(Self.idle)
        watcher = try FolderWatcher(beneath: access.root, onChange: events.wake)
        files = WatchedFiles(options, access: access)
        messages = WaitMessages(isVerbose: options.run.verbosity == .verbose)
    }

    /// Loads the job files. Returns the status of files with errors, which end the watch.
    mutating func begin() throws -> RunStatus? { try files.load(output, options.run.strictness) }

    /// Examines the files, runs a batch if one is due, and waits. Returns the status of a batch that a signal ended; nil to
    /// continue.
    mutating func step() async throws -> RunStatus? {
        let begun = ContinuousClock.now
        let inputs = files.examine(at: begun)
        // Changes before a folder was watched aren't reported, so that it is examined again.
        let isAdded = watcher.watch(files.folders)
        // While files appear one after another, most of the time is left for other programs.
        let pause = min(max(.milliseconds(100), (ContinuousClock.now - begun) * 9), .seconds(5))
        let interval = watcher.reportsAllChanges ? Self.interval : Self.shortInterval
        var next = isAdded ? begun : begun + interval
        switch files.change {
        case .none:
            let assessment = jobs.assess(inputs, state: files.settling.state)
            if assessment.batch.isEmpty {
                report(assessment, at: begun)
                next = min(next, assessment.next ?? next)
            } else {
                let result = try await runBatch(assessment, of: inputs)
                signals.handle(Self.idle)
                if signals.status != nil { return result.map(Self.status) ?? .succeeded }
                next = result == nil ? begun + Self.retryInterval : begun
            }
        case .incomplete(let end): next = min(next, end)
        case .complete: next = try reload() ? begun : begun + Self.shortInterval
        }
        await events.wait(notBefore: .now + pause, until: next)
        return nil
    }

    /// Returns the status after a signal: success if all jobs of the batch had ended.
    private static func status(_ batch: RunSession.Result) -> RunStatus {
        let areEnded = batch.records?.allSatisfy { record in
            switch record.outcome {
            case .cancelled, .notRun: false
            default: true
            }
        }
        return areEnded == true ? .succeeded : batch.status
    }

    /// Writes the reports with the jobs that were rejected, unless another batch follows.
    private mutating func reportRejections(_ inputs: JobInputs) async throws {
        let assessment = jobs.assess(inputs, state: files.settling.state)
        guard assessment.batch.isEmpty, options.run.destinations.wantsReport else { return }
        var run = batchOptions(assessment)
        (run.verbosity, run.destinations.events) = (.quiet, nil)
        _ = try await RunSession(run, output: output, signals: signals).run()
    }

    private func batchOptions(_ assessment: WatchedJobs.Assessment) -> RunOptions {
        var run = options.run
        (run.selected, run.carried) = (assessment.batch, jobs.carried(assessment))
        (run.waits, run.handlesSignals) = (true, true)
        (run.reportsEarlyEnd, run.destinations.appendsEvents) = (false, batches > 0)
        return run
    }

    /// Loads changed job files. Files with errors are loaded again after each change, and repeatedly, since they may lack a file
    /// that isn't known. Returns whether anything has changed.
    private mutating func reload() throws -> Bool {
        let wereValid = files.areValid
        if wereValid {
            printLine("the job files have changed")
            output.forget()
        }
        let areValid = try files.load(output, options.run.strictness) == nil
        if areValid {
            jobs.reset()
            if !wereValid { printLine("the job files are valid again") }
        }
        return wereValid || areValid
    }

    private mutating func report(_ assessment: WatchedJobs.Assessment, at now: ContinuousClock.Instant) {
        var lines = messages.lines(assessment.waits, at: now)
        lines += messages.lines(reportsAllChanges: watcher.reportsAllChanges, every: Self.shortInterval)
        for line in lines { printLine(line) }
    }

    private func printLine(_ line: String) {
        if options.run.verbosity != .quiet { output.printLine(line) }
    }

    /// Runs a batch. Returns nil if it can't start, for a reason that may pass.
    private mutating func runBatch(
        _ assessment: WatchedJobs.Assessment, of inputs: JobInputs
    ) async throws -> RunSession.Result? {
        var run = batchOptions(assessment)
        run.isCurrent = files.areUnchanged(assessment.batch, of: inputs)
        do {
            let result = try await RunSession(run, output: output, signals: signals).run()
            if let records = result.records {
                batches += 1
                output.endRepetition()
                jobs.add(records, of: assessment)
            } else if result.status != .succeeded {
                jobs.addRejection(result.problems, ofJobs: result.rejectedJobs, in: assessment)
                try await reportRejections(inputs)
            }
            return result
        } catch let error as EngineError where batches > 0 {
            let seconds = Self.retryInterval.components.seconds
            output.printRepeated("error: \(error.message); trying again every \(seconds) seconds")
            return nil
        }
    }
}
