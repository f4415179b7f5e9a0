internal import Diagnostics
internal import FoundationEssentials
package import JobRun

/// Past runs with their failures, newest first.
package struct HistoryReport: Sendable {
    /// A run in the JSON report.
    package struct Entry: Encodable, Sendable {
        let state: String
        let run: PastRun
        let failures: [PastRun.Attempt]
    }

    package let entries: [Entry]

    /// Reads at most `limit` runs from the state.
    /// - Throws: An environment error if the state can't be read.
    package init(_ state: RunState, limit: Int) throws(EngineError) {
        entries = try StateLocation.convertingErrors { () throws(StateError) in
            try state.history.runs(limit: limit).map {
                Entry(state: $0.folder.path, run: $0.run, failures: $0.attempts)
            }
        }
    }

    /// Text output of the report: a line for each run, and up to ten failures of each.
    package var text: String {
        if entries.isEmpty { return "no runs recorded\n" }
        return entries.map { entry in
            let run = entry.run
            let begun = Date(timeIntervalSince1970: run.begun).formatted(.iso8601)
            let open = run.status == .running ? "in progress" : "did not finish"
            let duration = run.ended.map { String(Int(($0 - run.begun).rounded())) + " s" } ?? open
            var lines = [
                "run \(run.number)  \(begun)  \(run.status.rawValue)  \(run.done) done, \(run.current) up to date, \(run.failed) not done  \(duration)  \(TextRenderer.printable(run.files.joined(separator: ", ")))\n"
            ]
            for attempt in entry.failures.prefix(10) {
                let why = attempt.message.isEmpty ? "" : ": " + TextRenderer.printable(attempt.message)
                lines.append("  \(attempt.outcome.rawValue)  \(TextRenderer.printable(attempt.job))\(why)\n")
            }
            if entry.failures.count > 10 { lines.append("  and \(entry.failures.count - 10) more\n") }
            return lines.joined()
        }.joined()
    }
}
