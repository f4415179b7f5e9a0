internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import Glibc
internal import JobRun
internal import JobSpec
internal import Locking

/// A run that may end before its first job begins. What programs read is written all the same: what an earlier run left
/// there must not be taken for this one's.
final class UnfinishedRun: Sendable {
    private struct State: Sendable {
        var files: [String] = []
        var problems: [Diagnostic] = []
        var jobs: [JobFile] = []
        var isOver = false
    }

    private let state = Guarded(State())
    private let outputs: RunOutputs
    private let events: String?
    private let begun = Date().timeIntervalSince1970

    init(_ outputs: RunOutputs, events: String?) {
        self.outputs = outputs
        self.events = events
    }

    /// The job files that it is about.
    func concerns(_ files: [String]) { state.withLock { $0.files = files } }

    /// What ends it, if it ends now; `jobs` are the files as far as they were decoded.
    func found(_ sink: DiagnosticSink, in jobs: [JobFile]) {
        state.withLock { ($0.problems, $0.jobs) = (sink.diagnostics, jobs) }
    }

    /// From here on the run tells of itself, or nothing is to be written.
    func isOver() { state.withLock { $0.isOver = true } }

    /// It ended with a status.
    func end(_ status: String) {
        let known = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver ? nil : state
        }
        guard let known else { return }
        let report = RunReport(
            problems: known.problems, in: known.jobs, files: known.files, begun: begun,
            seconds: Date().timeIntervalSince1970 - begun, status: status)
        let kept = outputs.paths(with: events).filter { !Self.mayWrite($0, known.files) }
        for path in kept { Terminal.say("error: \(path) is no report, and is not written over") }
        guard kept.isEmpty else { return }
        if let events { EventWriter(path: events)?.tell(report) }
        _ = outputs.write(report)
        RunOutputs.summarize(report)
    }

    /// What files a job reads is not known when its file can't be read: a report is written where there is nothing, or
    /// what looks like one.
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
