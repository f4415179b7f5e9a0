internal import Diagnostics
internal import JobRun

/// The lines at the end of a console that are drawn again and again: a bar for each running job, and lines below.
struct ProgressBars {
    private let console: Console
    /// Number of lines that are drawn.
    private var drawn = 0

    init(on console: Console) { self.console = console }

    /// Writes text above the lines, which are removed until they are drawn again.
    mutating func write(_ text: String) {
        clear()
        console.write(text)
    }

    /// Removes the lines.
    mutating func clear() {
        if drawn > 0 { console.write(erasing) }
        drawn = 0
    }

    private var erasing: String { drawn > 0 ? "\r\u{1b}[\(drawn)A\u{1b}[J" : "" }

    /// Draws bars of jobs, with `lines` below, in place of the lines that are drawn.
    mutating func draw(_ jobs: [RunningJob], lines: [String]) {
        let width = console.width()
        var text = erasing
        let name = min(24, jobs.map(\.id.count).max() ?? 0)
        for job in jobs {
            let progressText = Self.text(of: job)
            let space = max(4, min(40, width - name - progressText.count - 6))
            let filled = Int(Double(space) * job.fraction)
            let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: space - filled)
            let whole = TextRenderer.printable(job.id)
            let id = String(whole.prefix(name)) + String(repeating: " ", count: max(0, name - whole.count))
            text += String("\(id) \(bar) \(progressText)".prefix(max(10, width - 1))) + "\n"
        }
        // A line that the terminal wraps couldn't be removed.
        for line in lines { text += String(line.prefix(max(10, width - 1))) + "\n" }
        drawn = jobs.count + lines.count
        console.write(text)
    }

    /// Returns the number of finished jobs with the remaining time, if it is known.
    static func summary(finished: Int, total: Int, remaining: Double?) -> String {
        "\(finished) of \(total) jobs" + (remaining.map { ", about \(clock($0)) left" } ?? "")
    }

    /// Returns percentage, speed and remaining time of a job.
    static func text(of job: RunningJob) -> String {
        let percent = Int(job.fraction * 100)
        var text =
            String(repeating: " ", count: max(0, 3 - "\(percent)".count))
            + "\(percent) %  \(oneDecimal(job.speed))x"
        if let remaining = job.remaining { text += "  \(clock(remaining)) left" }
        return text
    }

    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999).rounded(.up))
        let two = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
        return whole >= 3600
            ? "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
            : "\(whole / 60):\(two(whole % 60))"
    }

    /// Returns a number of at least 0 with one decimal place.
    static func oneDecimal(_ value: Double) -> String {
        let tenths = Int((max(0, min(value, 1e9)) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
