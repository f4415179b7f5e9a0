internal import GRDB

extension StateStore {
    /// Warnings about an output, from the run that created it.
    struct OutputWarnings: Sendable {
        /// `TemporaryFile.fingerprint` of the output to which the warnings apply.
        var output: String
        var lines: [String]

        /// Maximum number of lines that are read.
        static let maxLines = 100
    }

    /// Returns the latest warnings about each output.
    static func warnings(_ db: Database) throws -> [JobName: OutputWarnings] {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT run, file, id, output, line FROM warnings ORDER BY run, rowid")
        return Dictionary(try grouped(rows)) { _, latest in latest }
    }

    /// Returns the warnings that a run recorded, in their order.
    static func warnings(_ db: Database, ofRun run: Int64) throws -> [(JobName, OutputWarnings)] {
        try grouped(
            Row.fetchCursor(
                db, sql: "SELECT run, file, id, output, line FROM warnings WHERE run = ? ORDER BY rowid",
                arguments: [run]))
    }

    /// Collects consecutive lines about the same output.
    private static func grouped(_ rows: RowCursor) throws -> [(JobName, OutputWarnings)] {
        var all: [(JobName, OutputWarnings)] = []
        var lastRun: Int64?
        while let row = try rows.next() {
            let (run, name) = (row.integer(0), JobName(file: row.text(1), id: row.text(2)))
            if let last = all.last, lastRun == run, last.0 == name, last.1.output == row.text(3) {
                if last.1.lines.count < OutputWarnings.maxLines {
                    all[all.count - 1].1.lines.append(row.text(4))
                }
            } else {
                all.append((name, OutputWarnings(output: row.text(3), lines: [row.text(4)])))
            }
            lastRun = run
        }
        return all
    }
}
