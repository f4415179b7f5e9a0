internal import ExactStrings
internal import FoundationEssentials
internal import GRDB
internal import JobPlan

extension StateStore {
    /// The record of a job's last success.
    struct Record: Sendable {
        var job: JobName
        /// Digest of the values that show the output to be up to date without planning; nil if the job must be planned.
        var shortcut: Shortcut?
        /// Digest of the plan; nil for a check whose source failed after it had passed.
        var digest: DigestValue?
        /// Absolute path of the output; nil for a passed check.
        var destination: String?
        /// `TemporaryFile.fingerprint` of the output; for a check, the digest.
        var output: String
        var seconds: Double

        /// The output; nil for a check.
        var publishedOutput: PublishedOutput? {
            destination.map { PublishedOutput(job: job, destination: $0, output: output) }
        }
    }

    /// A job or output, identified by the store's name of its job file and by its id.
    struct JobName: Hashable, Sendable {
        private let exactFile: ExactString
        private let exactID: ExactString
        var file: String { exactFile.text }
        var id: String { exactID.text }

        init(file: String, id: String) { (exactFile, exactID) = (file.exact, id.exact) }
    }
}

/// The table `jobs`: the last success of each job, with the parts of its digest.
enum JobTable {
    /// A success, as written.
    struct Success: Sendable {
        let record: StateStore.Record
        /// The digest with its parts, as JSON; an empty object if there is none.
        let parts: String

        init(_ record: StateStore.Record, digest: PlanDigest?) {
            self.record = record
            parts =
                digest.flatMap { try? JSONEncoder().encode($0) }.map { String(decoding: $0, as: UTF8.self) }
                ?? "{}"
        }
    }

    /// The number of an output's files.
    struct FileCount: Sendable {
        let name: StateStore.JobName
        let count: Int
        /// New shortcut of the output; nil if the recorded one is kept.
        let shortcut: Shortcut?
    }

    /// Returns the last success of each job.
    static func records(in db: Database) throws -> [StateStore.JobName: StateStore.Record] {
        var records: [StateStore.JobName: StateStore.Record] = [:]
        let rows = try Row.fetchCursor(
            db, sql: "SELECT file, id, shortcut, digest, destination, output, seconds FROM jobs")
        while let row = try rows.next() {
            let name = StateStore.JobName(file: row.text(0), id: row.text(1))
            records[name] = StateStore.Record(
                job: name, shortcut: row.filledText(2).map { Shortcut(text: $0) },
                digest: row.filledText(3).map { DigestValue($0) },
                destination: row.optionalText(4),
                output: row.text(5), seconds: min(max(0, row.number(6) ?? 0), 1e9))
        }
        return records
    }

    /// Returns the digest of a job's last success, including its parts.
    static func digest(of job: StateStore.JobName, in db: Database) throws -> PlanDigest? {
        let text = try String.fetchOne(
            db, sql: "SELECT parts FROM jobs WHERE file = ? AND id = ?", arguments: [job.file, job.id])
        return try text.map { try JSONDecoder().decode(PlanDigest.self, from: Data($0.utf8)) }
    }

    /// Writes successes in place of earlier ones. Deletes their intents, and moves outputs at earlier destinations to
    /// `former`.
    static func write(_ successes: [Success], in db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        let deleteOthers = try db.cachedStatement(
            sql: "DELETE FROM jobs WHERE destination = ? AND (file <> ? OR id <> ?)")
        for success in successes {
            let record = success.record
            try FormerOutputTable.recordPreviousOutput(of: record, in: db)
            if let destination = record.destination {
                try IntentTable.delete(at: destination, output: record.output, in: db)
                // Removes the record of a job that was renamed and has the same destination.
                try deleteOthers.execute(arguments: [destination, record.job.file, record.job.id])
            }
            try insert.execute(arguments: [
                record.job.file, record.job.id, record.shortcut?.text ?? "",
                record.digest?.text ?? "",
                success.parts, record.destination, record.output, record.seconds,
            ])
        }
    }

    /// Writes the shortcuts of outputs whose files are all recorded, and moves records of further files to `former`.
    static func write(_ fileCounts: [FileCount], in db: Database) throws {
        let updateShortcut = try db.cachedStatement(
            sql: "UPDATE jobs SET shortcut = ? WHERE file = ? AND id = ?")
        for files in fileCounts {
            let name = files.name
            try FormerOutputTable.retire(filesOf: name, beyond: files.count, in: db)
            if let shortcut = files.shortcut {
                try updateShortcut.execute(arguments: [shortcut.text, name.file, name.id])
            }
        }
    }

    /// Deletes the record of the output that a job published at a destination.
    static func delete(_ job: StateStore.JobName, at destination: String, in db: Database) throws {
        try db.execute(
            sql: "DELETE FROM jobs WHERE file = ? AND id = ? AND destination = ?",
            arguments: [job.file, job.id, destination])
    }
}
