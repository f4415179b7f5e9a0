internal import GRDB

/// The table `attempts`: jobs that did not succeed, by run.
enum AttemptTable {
    /// Returns the jobs of a run that did not succeed.
    static func attempts(ofRun run: Int64, in db: Database) throws -> [PastRun.Attempt] {
        try Row.fetchAll(
            db, sql: "SELECT file, id, outcome, message, seconds FROM attempts WHERE run = ?",
            arguments: [run]
        ).map {
            PastRun.Attempt(
                file: $0.text(0), job: $0.text(1),
                outcome: PastRun.Attempt.Outcome(rawValue: $0.text(2)) ?? .unknown, message: $0.text(3),
                seconds: $0.number(4) ?? 0)
        }
    }

    /// Writes the jobs of a run that did not succeed.
    static func write(_ attempts: [PastRun.Attempt], ofRun run: Int64, in db: Database) throws {
        let insert = try db.cachedStatement(sql: "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)")
        for attempt in attempts {
            try insert.execute(arguments: [
                run, attempt.file, attempt.job, attempt.outcome.rawValue, attempt.message, attempt.seconds,
            ])
        }
    }
}
