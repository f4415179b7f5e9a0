internal import FoundationEssentials
internal import GRDB
internal import Glibc

/// The table `runs`: start, end and result of each run.
enum RunTable {
    /// Writes the start of a run, and deletes old runs with their attempts and with warnings about outputs that have been
    /// replaced. Returns the number of the run.
    static func begin(files: [String], in db: Database) throws -> Int64 {
        let list = String(decoding: try JSONEncoder().encode(files), as: UTF8.self)
        try db.execute(sql: "INSERT INTO runs (begun, files) VALUES (?, ?)", arguments: [now, list])
        let run = db.lastInsertedRowID
        try db.execute(
            sql: """
                DELETE FROM attempts WHERE run <= ?;
                DELETE FROM warnings WHERE run <= ? AND NOT EXISTS
                    (SELECT 1 FROM jobs WHERE jobs.file = warnings.file AND jobs.id = warnings.id
                        AND jobs.output = warnings.output);
                DELETE FROM runs WHERE id <= ?
                """,
            arguments: [run - 200, run - 200, run - 200])
        return run
    }

    /// Writes the end of a run.
    static func end(
        _ run: Int64, done: Int, current: Int, failed: Int, status: RunReport.Status, in db: Database
    ) throws {
        try db.execute(
            sql:
                "UPDATE runs SET ended = ?, done = ?, current = ?, failed = ?, status = ? WHERE id = ?",
            arguments: [now, done, current, failed, status.rawValue, run])
    }

    /// Returns the latest runs, newest first.
    static func runs(limit: Int, in db: Database) throws -> [PastRun] {
        try Row.fetchAll(
            db,
            sql:
                "SELECT id, begun, ended, files, done, current, failed, status FROM runs ORDER BY id DESC LIMIT ?",
            arguments: [limit]
        ).map { row in
            PastRun(
                number: row.integer(0), begun: row.number(1) ?? 0, ended: row.number(2),
                files: fileNames(row.text(3)),
                done: Int(clamping: row.integer(4)), current: Int(clamping: row.integer(5)),
                failed: Int(clamping: row.integer(6)),
                status: PastRun.Status(rawValue: row.text(7)) ?? .died)
        }
    }

    /// Returns the names in a JSON list. Earlier versions wrote names separated by spaces.
    private static func fileNames(_ text: String) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(text.utf8)))
            ?? text.split(separator: " ").map(String.init)
    }

    /// The current time, in seconds since 1970.
    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
