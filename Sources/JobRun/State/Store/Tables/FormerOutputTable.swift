internal import GRDB

extension StateStore {
    /// An output that a job published.
    struct PublishedOutput: Sendable {
        var job: JobName
        var destination: String
        var output: String
    }
}

/// The table `former`: outputs that jobs published at earlier destinations, for `clean`.
enum FormerOutputTable {
    /// The outputs into which an output is divided by track.
    struct Division: Sendable {
        let name: StateStore.JobName
        /// Ids of the outputs of tracks.
        let ids: [String]
    }

    /// Returns outputs that jobs published at earlier destinations.
    static func outputs(in db: Database) throws -> [StateStore.PublishedOutput] {
        let rows = try Row.fetchCursor(db, sql: "SELECT file, id, destination, output FROM former")
        var all: [StateStore.PublishedOutput] = []
        while let row = try rows.next() {
            all.append(
                StateStore.PublishedOutput(
                    job: StateStore.JobName(file: row.text(0), id: row.text(1)), destination: row.text(2),
                    output: row.text(3)))
        }
        return all
    }

    /// Records the previous output of a job whose destination has changed.
    static func recordPreviousOutput(of record: StateStore.Record, in db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT destination, output FROM jobs WHERE file = ? AND id = ?")
        let row = try Row.fetchOne(statement, arguments: [record.job.file, record.job.id])
        if let row, let destination = row.optionalText(0), destination != record.destination {
            try db.execute(
                sql: "INSERT OR REPLACE INTO former VALUES (?, ?, ?, ?)",
                arguments: [destination, record.job.file, record.job.id, row.text(1)])
        }
    }

    /// Moves the records of an output's files from index `count` on from `jobs` to this table.
    static func retire(filesOf name: StateStore.JobName, beyond count: Int, in db: Database) throws {
        // Searches a range of the primary key: scanning all jobs for each output would take quadratic time.
        let beyond = """
            FROM jobs WHERE file = ?1 AND id > ?2 || '#' AND id < ?2 || '$'
                AND substr(id, length(?2) + 2) NOT GLOB '*[^0-9]*' AND CAST(substr(id, length(?2) + 2) AS INTEGER) > ?3
            """
        let arguments: StatementArguments = [name.file, name.id, count]
        try db.execute(
            sql: "INSERT OR REPLACE INTO former SELECT destination, file, id, output \(beyond)",
            arguments: arguments)
        try db.execute(sql: "DELETE \(beyond)", arguments: arguments)
    }

    /// Moves the records of outputs of tracks that a division no longer contains from `jobs` to this table.
    static func retire(tracksOutside division: Division, in db: Database) throws {
        let (name, ids) = (division.name, division.ids)
        let others = """
            FROM jobs WHERE file = ? AND id > ? || ':' AND id < ? || ';'
                AND substr(id, length(?) + 2) NOT GLOB '*[^0-9]*'
                AND id NOT IN (\(ids.map { _ in "?" }.joined(separator: ", ")))
            """
        let arguments = StatementArguments([name.file, name.id, name.id, name.id] + ids)
        try db.execute(
            sql: "INSERT OR REPLACE INTO former SELECT destination, file, id, output \(others)",
            arguments: arguments)
        try db.execute(sql: "DELETE \(others)", arguments: arguments)
    }

    static func delete(at destination: String, in db: Database) throws {
        try db.execute(sql: "DELETE FROM former WHERE destination = ?", arguments: [destination])
    }
}
