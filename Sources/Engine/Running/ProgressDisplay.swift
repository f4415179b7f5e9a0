package import Diagnostics
internal import Dispatch
internal import ExactStrings
package import JobPlan
package import JobRun
internal import Media
internal import JobSpec

/// The progress display of a run: a bar for each running job on a terminal, otherwise plain lines.
///
/// Unchecked `Sendable`: mutable state is accessed on `queue` only.
package final class ProgressDisplay: RunObserver, @unchecked Sendable {
    private let renderer: TextRenderer
    private let queue = DispatchQueue(label: "tandem.progress")
    private let console: Console
    private var timer: (any DispatchSourceTimer)?
    private var bars: ProgressBars

    private let verbosity: Verbosity

    package enum Verbosity: Sendable {
        /// Print only failures.
        case quiet
        /// Print failures and completed jobs.
        case normal
        /// Print failures, completed jobs, and jobs that are up to date.
        case verbose
    }

    /// The command line that repeats the run.
    package struct RerunCommand: Sendable {
        /// Arguments, without the program's name.
        package var arguments: [String]
        /// Whether `--only` may be added.
        package var acceptsNames: Bool

        package init(arguments: [String], acceptsNames: Bool) {
            self.arguments = arguments
            self.acceptsNames = acceptsNames
        }
    }

    private let rerunCommand: RerunCommand?

    /// Creates a display. `renderer` renders failures with excerpts of the job files.
    package init(
        on console: Console, renderer: TextRenderer, verbosity: Verbosity = .normal,
        rerunCommand: RerunCommand? = nil
    ) {
        self.console = console
        bars = ProgressBars(on: console)
        self.renderer = renderer
        self.rerunCommand = rerunCommand
        self.verbosity = verbosity
    }

    /// Starts the display of a runner's progress, unless the verbosity is `quiet`.
    package func begin(_ runner: BatchRunner) {
        if verbosity == .quiet { return }
        queue.sync {
            let timer = DispatchSource.makeTimerSource(queue: queue)
            let interval = console.isInteractive ? DispatchTimeInterval.milliseconds(200) : .seconds(10)
            timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(50))
            timer.setEventHandler { @Sendable [weak self] in self?.drawProgress(runner.snapshot()) }
            timer.activate()
            self.timer = timer
        }
    }

    /// Prints a line above the progress bars.
    package func printLine(_ text: String) { queue.async { @Sendable in self.writeLine(text) } }

    package func jobStarted(_ plan: JobPlan) {
        guard !console.isInteractive, verbosity != .quiet else { return }
        printLine("\(TextRenderer.printable(plan.id)): started")
    }

    package func jobFinished(_ record: JobRecord) {
        // File names are untrusted and may contain terminal control sequences or GitHub workflow commands.
        let id = TextRenderer.printable(record.id)
        switch record.outcome {
        case .succeeded(let result):
            if verbosity == .quiet { return }
            for output in result.outputs { printOutput(output, of: record.id, seconds: result.seconds) }
            for (output, why) in result.skipped.sorted(by: { $0.key < $1.key }) {
                let name = TextRenderer.printable(OutputName(job: record.id, output: output).description)
                printLine(statusWord("skip", "36") + " \(name): \(TextRenderer.printable(why))")
            }
            for warning in record.unplanned(result.warnings) {
                printLine("     \(id): warning: \(TextRenderer.printable(warning))")
            }
        case .upToDate:
            if verbosity == .verbose { printLine(statusWord("same", "36") + " \(id): up to date") }
        case .skipped(let why):
            if verbosity != .quiet {
                printLine(statusWord("skip", "36") + " \(id): \(TextRenderer.printable(why))")
            }
        case .declined(let why):
            if verbosity != .quiet {
                printLine(statusWord("drop", "36") + " \(id): not published: \(TextRenderer.printable(why))")
            }
        case .failed(let failure):
            let attemptNote = record.attempts > 1 ? " (attempt \(record.attempts))" : ""
            printLine(
                statusWord("fail", "31") + " \(id): \(TextRenderer.printable(failure.message))\(attemptNote)")
        case .cancelled: printLine(statusWord("stop", "33") + " \(id): cancelled")
        case .notRun(let why):
            printLine(statusWord("stop", "33") + " \(id): not run, \(TextRenderer.printable(why))")
        }
    }

    /// Prints a line for a created output, with its loudness and expectations.
    private func printOutput(_ output: OutputResult, of job: String, seconds: Double) {
        let id = TextRenderer.printable(OutputName(job: job, output: output.id).description)
        if !output.images.isEmpty {
            let last = output.images.last?.path.flatMap { $0.pathParts.last } ?? ""
            let more = output.images.count > 1 && !last.isEmpty ? " … \(TextRenderer.printable(last))" : ""
            return printLine(
                statusWord("done", "32")
                    + " \(id): \(TextRenderer.printable(output.destination ?? ""))\(more) (\(counted(output.images.count, "image")), \(PlanText.bytes(output.size)), \(ProgressBars.oneDecimal(seconds)) s\(output.isFromCache ? ", from the cache" : ""))"
            )
        }
        let speed = seconds > 0 ? output.duration.seconds / seconds : 0
        let origin = output.isFromCache ? "from the cache" : "\(ProgressBars.oneDecimal(speed))x"
        let destination = output.destination.map { TextRenderer.printable($0) } ?? "checked"
        let size = output.destination == nil ? "" : "\(PlanText.bytes(output.size)), "
        printLine(
            statusWord("done", "32")
                + " \(id): \(destination) (\(PlanText.time(output.duration)), \(size)\(ProgressBars.oneDecimal(seconds)) s, \(origin))"
        )
        for one in output.loudness {
            printLine(
                "     \(id): track \(one.track): \(Self.signed(one.before.integrated)) LUFS, peak \(Self.signed(one.before.truePeak)) dBTP → \(Self.signed(one.after.integrated)) LUFS, peak \(Self.signed(one.after.truePeak)) dBTP"
            )
        }
        if !output.sizeAttempts.isEmpty {
            let tried = SizeFit.text(output.sizeAttempts.map { ($0.bitRate, $0.size) })
            printLine("     \(id): target_size: \(tried)")
        }
        if let quality = output.quality { printLine("     \(id): quality: \(quality.text)") }
        if !output.expectations.isEmpty {
            let summaries = output.expectations.map(\.summary).joined(separator: "; ")
            printLine("     \(id): as expected: \(TextRenderer.printable(summaries))")
        }
    }

    /// Prints failures and the summary, and returns the diagnostics. `location` returns the source location of a job.
    package func end(
        _ records: [JobRecord], refusals: [BatchPlan.Refusal], location: (JobRecord) -> SourceRange?
    ) -> DiagnosticSink {
        queue.sync { () -> DiagnosticSink in
            timer?.cancel()
            timer = nil
            bars.clear()
            var details = DiagnosticSink()
            for refusal in refusals { for diagnostic in refusal.diagnostics { details.add(diagnostic) } }
            let refused = Set(refusals.map(\.key))
            var unsuccessful: [String] = []
            for record in records where !record.outcome.isSuccess {
                unsuccessful.append(record.id)
                guard !refused.contains(record.key),
                    case .failed(let failure) = record.outcome
                else { continue }
                for problem in failure.diagnostics {
                    details.error(problem.rule, "\(record.id): \(problem.message)", at: problem.location)
                }
            }
            for diagnostic in details.diagnostics { console.write(renderer.render(diagnostic)) }
            // Warnings about created outputs were printed when their jobs ended; stored warnings about outputs that are
            // up to date are printed here.
            for record in records {
                let earlier = record.earlierWarnings.sorted { $0.key < $1.key }.flatMap(\.value)
                for warning in record.unplanned(earlier) {
                    console.write(
                        "\(TextRenderer.printable(record.id)): warning: \(TextRenderer.printable(warning))\n")
                }
            }
            for record in records {
                guard let location = location(record) else { continue }
                for warning in record.unplanned(record.warnings) {
                    details.warning(.jobWarning, "\(record.id): \(warning)", at: location)
                }
            }
            let current = records.count { $0.outcome.isUpToDate }
            let done = records.count - unsuccessful.count
            let cached = records.count(where: \.outcome.isFromCache)
            let skipped = records.count { if case .skipped = $0.outcome { true } else { false } }
            let declined = records.count { if case .declined = $0.outcome { true } else { false } }
            if verbosity == .quiet, unsuccessful.isEmpty { return details }
            console.write(
                "\(done) of \(records.count) jobs done"
                    + (current > 0 ? ", \(current) of them up to date" : "")
                    + (cached > 0 ? ", \(cached) from the cache" : "")
                    + (skipped > 0 ? ", \(skipped) skipped" : "")
                    + (declined > 0 ? ", \(declined) declined" : "")
                    + (unsuccessful.isEmpty ? "" : ", \(unsuccessful.count) not done") + "\n")
            if let rerunCommand, !unsuccessful.isEmpty, records.count > 1 {
                // Without `--only`, the same command suffices: completed jobs are up to date.
                let names =
                    rerunCommand.acceptsNames && unsuccessful.count <= 8
                    ? unsuccessful.flatMap { ["--only", $0] } : []
                let words = (rerunCommand.arguments + names).map(SafeText.shellWord)
                console.write("run again: tandem \(words.joined(separator: " "))\n")
            }
            return details
        }
    }

    // MARK: Drawing, on `queue`

    private func writeLine(_ text: String) { bars.write(text + "\n") }

    private func drawProgress(_ state: (running: [RunningJob], finished: Int, total: Int, remaining: Double?))
    {
        guard timer != nil else { return }
        if console.isInteractive {
            let summary = ProgressBars.summary(
                finished: state.finished, total: state.total, remaining: state.remaining)
            return bars.draw(state.running, lines: [summary])
        }
        for job in state.running {
            console.write("\(TextRenderer.printable(job.id)): \(ProgressBars.text(of: job))\n")
        }
        if state.total > 1 { console.write("\(state.finished) of \(state.total) jobs\n") }
    }

    private static func signed(_ value: Double) -> String {
        (value < 0 ? "-" : "") + ProgressBars.oneDecimal(abs(value))
    }

    private func statusWord(_ word: String, _ color: String) -> String {
        console.usesColor ? "\u{1b}[1;\(color)m\(word)\u{1b}[0m" : word
    }
}

extension JobRecord {
    /// Returns the warnings that planning hasn't printed.
    fileprivate func unplanned(_ warnings: [String]) -> [String] {
        let planned = Set(plan?.outputs.flatMap(\.warnings) ?? [])
        return warnings.filter { !planned.contains($0) }
    }
}
