internal import JobRun

/// The display of a batch that is followed: a line for each change of the parts' state, and on a terminal bars of running jobs.
package struct BatchDisplay {
    private let console: Console
    private var bars: ProgressBars
    private var last: ClusterBatch.Status?
    private let begun = ContinuousClock.now
    /// Number of finished jobs when the display began.
    private var initiallyFinished: Int?

    package init(on console: Console) {
        self.console = console
        bars = ProgressBars(on: console)
    }

    /// Whether progress is displayed.
    var showsProgress: Bool { console.isInteractive }

    /// Maximum number of bars.
    private static let maxBars = 10

    /// Prints a line above the bars.
    mutating func printLine(_ line: String) { bars.write(line + "\n") }

    /// Displays a state of the parts. `progress`: that of all jobs; nil if it isn't known.
    mutating func show(_ status: ClusterBatch.Status, _ progress: BatchProgress?) {
        defer { last = status }
        guard let progress, showsProgress else {
            if status != last { printLine(status.line) }
            return
        }
        let first = initiallyFinished ?? progress.finished
        initiallyFinished = first
        let (elapsed, ended) = (begun.duration(to: .now) / .seconds(1), progress.finished - first)
        let remaining =
            ended > 0 && elapsed > 10
            ? elapsed / Double(ended) * Double(max(0, progress.total - progress.finished)) : nil
        let hidden = progress.running.count - Self.maxBars
        bars.draw(
            Array(progress.running.prefix(Self.maxBars)),
            lines: (hidden > 0 ? ["and \(hidden) more running"] : []) + [
                ProgressBars.summary(
                    finished: progress.finished, total: progress.total, remaining: remaining), status.line,
            ])
    }

    /// Ends the display; the last state remains.
    mutating func end() {
        bars.clear()
        if showsProgress, let last { console.write(last.line + "\n") }
    }
}
