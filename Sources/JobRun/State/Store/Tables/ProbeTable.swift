internal import GRDB

/// The table `probes`: responses to probes of files, as JSON. `identity` is a file's change token.
enum ProbeTable {
    /// Returns the response to a probe of a file; nil if there is none for the current version of the file.
    static func response(
        to request: String, path: String, identity: String, in db: Database
    ) throws -> String? {
        try String.fetchOne(
            db, sql: "SELECT response FROM probes WHERE path = ? AND request = ? AND identity = ?",
            arguments: [path, request, identity])
    }

    /// Writes the response to a probe of a file, in place of the one for an earlier version of the file.
    static func write(
        response: String, to request: String, path: String, identity: String, in db: Database
    ) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO probes VALUES (?, ?, ?, ?)",
            arguments: [path, request, identity, response])
    }
}
