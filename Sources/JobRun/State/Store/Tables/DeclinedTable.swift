internal import GRDB
internal import JobPlan

extension StateStore {
    /// An output that was created and not published.
    struct DeclinedOutput: Sendable {
        /// Digest of the output's plan.
        var digest: DigestValue
        /// Size of the output in bytes.
        var size: Int64
    }
}

/// The table `declined`: outputs that were created and not published.
enum DeclinedTable {
    /// Returns the output of a job that was declined last; nil if there is none.
    static func output(of name: StateStore.JobName, in db: Database) throws -> StateStore.DeclinedOutput? {
        try Row.fetchOne(
            db, sql: "SELECT digest, size FROM declined WHERE file = ? AND id = ?",
            arguments: [name.file, name.id]
        ).map { StateStore.DeclinedOutput(digest: DigestValue($0.text(0)), size: $0.integer(1)) }
    }

    /// Writes a declined output in place of an earlier one of the job.
    static func write(
        _ declined: StateStore.DeclinedOutput, of name: StateStore.JobName, in db: Database
    ) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO declined VALUES (?, ?, ?, ?)",
            arguments: [name.file, name.id, declined.digest.text, declined.size])
    }
}
