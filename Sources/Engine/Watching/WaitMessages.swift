internal import Diagnostics
internal import JobPlan

/// The messages of a watch between its batches, each once: its start, limits of the system, and the jobs that wait.
struct WaitMessages {
    /// Time after which a file that is still written is reported.
    static let patience = Duration.seconds(30)
    /// Maximum number of jobs that are listed at a time.
    private static let maxJobs = 10

    private let isVerbose: Bool
    private var isBegun = false
    private var isLimited = false
    /// The waits, the time at which each began, and whether it was reported.
    private var known: [JobKey: (wait: WatchedJobs.Wait, since: ContinuousClock.Instant, isReported: Bool)] =
        [:]

    /// `isVerbose`: whether files that are still written are reported at once.
    init(isVerbose: Bool) { self.isVerbose = isVerbose }

    /// Returns the messages about the watch as a whole. `reportsAllChanges`: whether the system reports all changes in the
    /// folders, which are otherwise examined repeatedly.
    mutating func lines(reportsAllChanges: Bool, every interval: Duration) -> [String] {
        var lines: [String] = []
        if !reportsAllChanges, !isLimited {
            lines.append(
                "warning: the system doesn't report all changes in the watched folders (network file system, or limit of inotify): they are examined every \(interval.components.seconds) seconds"
            )
        }
        isLimited = !reportsAllChanges
        if !isBegun { lines.append("watching for files; Ctrl-C ends the watch") }
        isBegun = true
        return lines
    }

    /// Returns the messages about the jobs that wait now.
    mutating func lines(_ waits: [JobKey: WatchedJobs.Wait], at now: ContinuousClock.Instant) -> [String] {
        known = known.filter { waits[$0.key] == $0.value.wait }
        var (lines, omitted) = ([String](), 0)
        for (key, wait) in waits.sorted(by: { $0.key < $1.key }) {
            let begun = known[key]?.since ?? now
            if known[key] == nil { known[key] = (wait, now, false) }
            guard known[key]?.isReported == false, isVerbose || !wait.isBrief || now - begun >= Self.patience
            else { continue }
            known[key]?.isReported = true
            if lines.count < Self.maxJobs { lines.append("\(key.id): \(wait)") } else { omitted += 1 }
        }
        if omitted > 0 { lines.append("\(counted(omitted, "more job")) waiting") }
        return lines
    }
}

extension WatchedJobs.Wait: CustomStringConvertible {
    /// Whether the wait usually ends soon, or follows from another one.
    fileprivate var isBrief: Bool {
        switch self {
        case .incomplete, .prerequisite: true
        case .missing, .pattern, .failure: false
        }
    }

    var description: String {
        switch self {
        case .missing(let path): "waiting for \(path), which doesn't exist"
        case .incomplete(let path): "waiting for \(path), which may still be written"
        case .pattern(let message): message
        case .prerequisite(let key): "waiting for the job `\(key.id)`"
        case .failure(let key): "not run, the job `\(key.id)`, which it needs, did not succeed"
        }
    }
}
