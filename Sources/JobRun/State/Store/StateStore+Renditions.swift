internal import FoundationEssentials
internal import GRDB
internal import Streaming

/// Renditions of published packages.
extension StateStore {
    /// A rendition in a published package.
    struct StoredRendition: Sendable {
        /// Digest of the rendition's plan, with the division into files.
        var digest: String
        /// `TemporaryFile.fingerprint` of the package's folder.
        var output: String
        var description: StreamingRendition
    }

    /// Returns the renditions of the package at a destination, by id; empty if they can't be read.
    func renditions(at destination: String) -> [String: StoredRendition] {
        let found = try? database.read { db in
            var found: [String: StoredRendition] = [:]
            let rows = try Row.fetchCursor(
                db, sql: "SELECT id, digest, output, description FROM renditions WHERE destination = ?",
                arguments: [destination])
            while let row = try rows.next() {
                guard
                    let description = try? JSONDecoder().decode(
                        StreamingRendition.self, from: Data(row.text(3).utf8))
                else { continue }
                found[row.text(0)] = StoredRendition(
                    digest: row.text(1), output: row.text(2), description: description)
            }
            return found
        }
        return found ?? [:]
    }

    /// Stores the renditions of the package that was published at a destination, in place of those of an earlier one.
    /// Losing them only causes the renditions to be created again, so that errors are ignored.
    func record(_ renditions: [String: StoredRendition], at destination: String) {
        try? database.write { db in
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
}
