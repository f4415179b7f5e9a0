internal import GRDB

/// The table `contents`: digests of the bytes of files. `identity` is a file's change token.
enum ContentTable {
    /// Returns the digest of a file's bytes; nil if there is none for the current version of the file.
    static func digest(path: String, identity: String, in db: Database) throws -> String? {
        try String.fetchOne(
            db, sql: "SELECT digest FROM contents WHERE path = ? AND identity = ?",
            arguments: [path, identity])
    }

    /// Writes the digest of a file's bytes, in place of the one for an earlier version of the file.
    static func write(digest: String, path: String, identity: String, in db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", arguments: [path, identity, digest])
    }
}
