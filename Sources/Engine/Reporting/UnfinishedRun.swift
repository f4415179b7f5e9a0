package import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobRun
package import JobSpec
internal import Locking

/// A run that may end before its first job starts. Reports are written in this case too, so that those of an earlier
/// run aren't mistaken for current ones.
package final class UnfinishedRun: Sendable {
    private struct State: Sendable {
        var files: [String] = []
        var problems: [Diagnostic] = []
        var jobs: [JobFile] = []
        var isOver = false
    }

    private let state = Guarded(State())
    private let destinations: ReportDestinations
    /// Start of the command, in seconds since 1970.
    let begun = Date().timeIntervalSince1970

    /// Creates the run, which starts now.
    package init(_ destinations: ReportDestinations) { self.destinations = destinations }

    /// The diagnostics to report.
    var problems: [Diagnostic] { state.withLock { $0.problems } }

    package func setFiles(_ files: [String]) { state.withLock { $0.files = files } }

    /// Sets the diagnostics to report. `jobs` are the files that could be decoded.
    package func setDiagnostics(_ sink: DiagnosticSink, in jobs: [JobFile]) {
        state.withLock { ($0.problems, $0.jobs) = (sink.diagnostics, jobs) }
    }

    /// Disables the reports, because the run itself writes them or because none are needed.
    package func disableReports() { state.withLock { $0.isOver = true } }

    /// Writes the reports with the given status. Returns messages for the user.
    package func writeReports(_ status: RunStatus) -> [String] {
        let current = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver ? nil : state
        }
        guard let current else { return [] }
        let report = RunReport(
            problems: current.problems, in: current.jobs, files: current.files, begun: begun,
            seconds: Date().timeIntervalSince1970 - begun, status: status.reportStatus)
        let protected = destinations.paths.filter { !Self.mayWrite($0, current.files) }
        guard protected.isEmpty else {
            return protected.map { "error: \($0) is not a report, and is not overwritten" }
        }
        if let events = destinations.events { EventWriter(path: events)?.writeEvents(report) }
        let problems = destinations.write(report)
        return problems
            + (GitHubActions.summarize(report) ? [] : ["warning: the step summary can't be written"])
    }

    /// Returns whether a report may be written at a path: only if it is a report, or no file exists. If a job file
    /// can't be read its sources are unknown, so any other file might be one of them.
    private static func mayWrite(_ path: String, _ files: [String]) -> Bool {
        guard ReportFile.problem(path) == nil else { return false }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return true }
        let isJobFile = files.contains { file in
            var other = stat()
            return stat(file, &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino
        }
        return !isJobFile
    }
}
