internal import GRDB

extension StateStore {
    /// What was said of an output when it was made.
    struct Warned: Sendable {
        /// Size and time of the output as one word: of another one it says nothing.
        var output: String
        var lines: [String]

        static let outcome = "warned"

        init(output: String, lines: [String]) { (self.output, self.lines) = (output, lines) }

        /// From a message of an attempt.
        init?(_ message: String) {
            let parts = message.split(separator: "\n").map(String.init)
            guard parts.count > 1, parts.count <= 101 else { return nil }
            self.init(output: parts[0], lines: Array(parts.dropFirst()))
        }

        var message: String { ([output] + lines).joined(separator: "\n") }
    }

    /// What was said of each job's output last.
    static func warned(_ db: Database) throws -> [JobName: Warned] {
        var all: [JobName: Warned] = [:]
        let rows = try Row.fetchCursor(
            db, sql: "SELECT file, id, message FROM attempts WHERE outcome = ? ORDER BY run",
            arguments: [Warned.outcome])
        while let row = try rows.next() {
            all[JobName(file: row.text(0), id: row.text(1))] = Warned(row.text(2))
        }
        return all
    }

    /// A job's output is there, and something is said of it.
    func note(_ name: JobName, _ warned: Warned) {
        note(name, outcome: Warned.outcome, message: warned.message, seconds: 0)
    }
}
