internal import FoundationEssentials
internal import GRDB
internal import Streaming

extension StateStore {
    /// A rendition in a published package.
    struct StoredRendition: Sendable {
        /// Digest of the rendition's plan, with the division into files.
        var digest: String
        /// `TemporaryFile.fingerprint` of the package's folder.
        var output: String
        var description: StreamingRendition
    }
}

/// The table `renditions`: renditions of published packages.
enum RenditionTable {
    /// Returns the renditions of the package at a destination, by id.
    static func renditions(
        at destination: String, in db: Database
    ) throws -> [String: StateStore.StoredRendition] {
        var found: [String: StateStore.StoredRendition] = [:]
        let rows = try Row.fetchCursor(
            db, sql: "SELECT id, digest, output, description FROM renditions WHERE destination = ?",
            arguments: [destination])
        while let row = try rows.next() {
            guard
                let description = try? JSONDecoder().decode(
                    StreamingRendition.self, from: Data(row.text(3).utf8))
            else { continue }
            found[row.text(0)] = StateStore.StoredRendition(
                digest: row.text(1), output: row.text(2), description: description)
        }
        return found
    }

    /// Writes the renditions of a package in place of those of an earlier one at its destination.
    static func write(
        _ renditions: [String: StateStore.StoredRendition], at destination: String, in db: Database
    ) throws {
        try db.execute(sql: "DELETE FROM renditions WHERE destination = ?", arguments: [destination])
        for (id, rendition) in renditions {
            let description = String(
                decoding: try JSONEncoder().encode(rendition.description), as: UTF8.self)
            try db.execute(
                sql: "INSERT INTO renditions VALUES (?, ?, ?, ?, ?)",
                arguments: [destination, id, rendition.digest, rendition.output, description])
        }
    }
}
