internal import GRDB
internal import JobPlan

/// Outputs that were created and not published.
extension StateStore {
    /// An output that was declined.
    struct DeclinedOutput: Sendable {
        /// Digest of the output's plan.
        var digest: DigestValue
        /// Size of the output in bytes.
        var size: Int64
    }

    /// Returns the output of a job that was declined last; nil if there is none, or if it can't be read.
    func declinedOutput(of name: JobName) -> DeclinedOutput? {
        let found = try? database.read { db in
            try Row.fetchOne(
                db, sql: "SELECT digest, size FROM declined WHERE file = ? AND id = ?",
                arguments: [name.file, name.id]
            ).map { DeclinedOutput(digest: DigestValue($0.text(0)), size: $0.integer(1)) }
        }
        return found ?? nil
    }

    /// Stores a declined output in place of an earlier one of the job. If that fails, the output is created again.
    func record(_ declined: DeclinedOutput, of name: JobName) {
        try? database.write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO declined VALUES (?, ?, ?, ?)",
                arguments: [name.file, name.id, declined.digest.text, declined.size])
        }
    }
}
