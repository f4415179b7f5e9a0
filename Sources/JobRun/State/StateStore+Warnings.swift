internal import GRDB

extension StateStore {
    /// Warnings about an output, from the run that created it.
    struct OutputWarnings: Sendable {
        /// `TemporaryFile.fingerprint` of the output to which the warnings apply.
        var output: String
        var lines: [String]

        static let outcome = "warned"

        init(output: String, lines: [String]) { (self.output, self.lines) = (output, lines) }

        /// Parses the message of an attempt.
        init?(_ message: String) {
            let parts = message.split(separator: "\n").map(String.init)
            guard parts.count > 1, parts.count <= 101 else { return nil }
            self.init(output: parts[0], lines: Array(parts.dropFirst()))
        }

        var message: String { ([output] + lines).joined(separator: "\n") }
    }

    /// Returns the latest warnings about each output.
    static func warnings(_ db: Database) throws -> [JobName: OutputWarnings] {
        var all: [JobName: OutputWarnings] = [:]
        let rows = try Row.fetchCursor(
            db, sql: "SELECT file, id, message FROM attempts WHERE outcome = ? ORDER BY run",
            arguments: [OutputWarnings.outcome])
        while let row = try rows.next() {
            all[JobName(file: row.text(0), id: row.text(1))] = OutputWarnings(row.text(2))
        }
        return all
    }

    /// Records warnings about an output.
    func record(_ name: JobName, _ warnings: OutputWarnings) {
        record(name, outcome: OutputWarnings.outcome, message: warnings.message, seconds: 0)
    }
}
