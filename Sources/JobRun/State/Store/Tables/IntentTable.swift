internal import ExactStrings
internal import GRDB
internal import JobPlan

extension StateStore {
    /// The intent to publish an output.
    struct Intent: Sendable, Equatable {
        /// Fingerprint of the output.
        var output: String
        /// Digest of the output's plan; nil if the replaced file has the same fingerprint.
        var digest: DigestValue?
    }
}

/// The table `intents`: intents to publish outputs that can't be marked.
enum IntentTable {
    /// Returns the intents to publish an output, by path.
    static func intents(in db: Database) throws -> [ExactString: StateStore.Intent] {
        var intents: [ExactString: StateStore.Intent] = [:]
        let rows = try Row.fetchCursor(db, sql: "SELECT destination, output, digest FROM intents")
        while let row = try rows.next() {
            intents[row.text(0).exact] = StateStore.Intent(
                output: row.text(1), digest: row.filledText(2).map { DigestValue($0) })
        }
        return intents
    }

    /// Writes an intent and syncs it to disk. Must be called outside of a transaction.
    static func writeSynced(_ intent: StateStore.Intent, at destination: String, in db: Database) throws {
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try db.execute(
            sql: "INSERT OR REPLACE INTO intents VALUES (?, ?, ?)",
            arguments: [destination, intent.output, intent.digest?.text ?? ""])
        try db.execute(sql: "PRAGMA synchronous = NORMAL")
    }

    /// Deletes the intent to publish an output with a fingerprint at a destination.
    static func delete(at destination: String, output: String, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM intents WHERE destination = ? AND output = ?")
            .execute(arguments: [destination, output])
    }
}
