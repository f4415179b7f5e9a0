internal import GRDB

extension StateStore {
    /// Warnings about an output, from the run that created it.
    struct OutputWarnings: Sendable {
        /// `TemporaryFile.fingerprint` of the output to which the warnings apply.
        var output: String
        var lines: [String]
    }
}

/// The table `warnings`: lines of warnings about outputs, by run.
enum WarningTable {
    /// The warnings about an output, with its name.
    typealias Entry = (name: StateStore.JobName, warnings: StateStore.OutputWarnings)

    /// Maximum number of lines about an output that are read.
    private static let maxLines = 100

    /// Returns the latest warnings about each output.
    static func latestWarnings(in db: Database) throws -> [StateStore.JobName: StateStore.OutputWarnings] {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT run, file, id, output, line FROM warnings ORDER BY run, rowid")
        return Dictionary(try grouped(rows)) { _, latest in latest }
    }

    /// Returns the warnings that a run recorded, in their order.
    static func warnings(ofRun run: Int64, in db: Database) throws -> [Entry] {
        try grouped(
            Row.fetchCursor(
                db, sql: "SELECT run, file, id, output, line FROM warnings WHERE run = ? ORDER BY rowid",
                arguments: [run]))
    }

    /// Collects consecutive lines about the same output.
    private static func grouped(_ rows: RowCursor) throws -> [Entry] {
        var all: [Entry] = []
        var lastRun: Int64?
        while let row = try rows.next() {
            let (run, name) = (row.integer(0), StateStore.JobName(file: row.text(1), id: row.text(2)))
            if let last = all.last, lastRun == run, last.name == name, last.warnings.output == row.text(3) {
                if last.warnings.lines.count < maxLines {
                    all[all.count - 1].warnings.lines.append(row.text(4))
                }
            } else {
                all.append((name, StateStore.OutputWarnings(output: row.text(3), lines: [row.text(4)])))
            }
            lastRun = run
        }
        return all
    }

    /// Writes the warnings of a run.
    static func write(_ entries: [Entry], ofRun run: Int64, in db: Database) throws {
        let insert = try db.cachedStatement(sql: "INSERT INTO warnings VALUES (?, ?, ?, ?, ?)")
        for (name, warnings) in entries {
            for line in warnings.lines {
                try insert.execute(arguments: [run, name.file, name.id, warnings.output, line])
            }
        }
    }
}
