internal import Dispatch
internal import ExactStrings
internal import FoundationEssentials
internal import GRDB
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// Queries of the store.
extension StateStore {
    // MARK: Reading

    /// Returns the last success of each job.
    static func records(_ db: Database) throws -> [JobName: Record] {
        var records: [JobName: Record] = [:]
        let rows = try Row.fetchCursor(
            db, sql: "SELECT file, id, shortcut, digest, destination, output, seconds FROM jobs")
        while let row = try rows.next() {
            let name = JobName(file: row.text(0), id: row.text(1))
            records[name] = Record(
                job: name, shortcut: row.filledText(2).map { Shortcut(text: $0) },
                digest: row.filledText(3).map { DigestValue($0) },
                destination: row.optionalText(4),
                output: row.text(5), seconds: min(max(0, row.number(6) ?? 0), 1e9))
        }
        return records
    }

    /// Returns outputs that jobs published at earlier destinations.
    static func formerOutputs(_ db: Database) throws -> [PublishedOutput] {
        let rows = try Row.fetchCursor(db, sql: "SELECT file, id, destination, output FROM former")
        var all: [PublishedOutput] = []
        while let row = try rows.next() {
            all.append(
                PublishedOutput(
                    job: JobName(file: row.text(0), id: row.text(1)), destination: row.text(2),
                    output: row.text(3)))
        }
        return all
    }

    /// Records the previous output of a job whose destination has changed. Used by `clean`.
    static func recordFormerOutput(_ record: Record, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT destination, output FROM jobs WHERE file = ? AND id = ?")
        let row = try Row.fetchOne(statement, arguments: [record.job.file, record.job.id])
        if let row, let destination = row.optionalText(0), destination != record.destination {
            try db.execute(
                sql: "INSERT OR REPLACE INTO former VALUES (?, ?, ?, ?)",
                arguments: [destination, record.job.file, record.job.id, row.text(1)])
        }
    }

    /// Records files of an output from index `count` on as obsolete, for `clean`.
    static func retire(filesOf name: JobName, beyond count: Int, _ db: Database) throws {
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

    /// Records the outputs of tracks of a divided output, except those with some ids, as obsolete, for `clean`.
    static func retire(tracksOf name: JobName, except ids: [String], _ db: Database) throws {
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

    /// Returns the intents to publish an output, by path.
    static func intents(_ db: Database) throws -> [ExactString: Intent] {
        var intents: [ExactString: Intent] = [:]
        let rows = try Row.fetchCursor(db, sql: "SELECT destination, output, digest FROM intents")
        while let row = try rows.next() {
            intents[row.text(0).exact] = Intent(
                output: row.text(1), digest: row.filledText(2).map { DigestValue($0) })
        }
        return intents
    }

    /// Returns the digest of a job's last success, including its parts.
    func digest(of job: JobName) throws(StateError) -> PlanDigest? {
        try read { db in
            let text = try String.fetchOne(
                db, sql: "SELECT parts FROM jobs WHERE file = ? AND id = ?", arguments: [job.file, job.id])
            return try text.map { try JSONDecoder().decode(PlanDigest.self, from: Data($0.utf8)) }
        }
    }

    /// Returns the stored digest of a file's bytes; nil if there is none for the current version of the file.
    func content(path: String, identity: String) throws(StateError) -> String? {
        try read { db in
            try String.fetchOne(
                db, sql: "SELECT digest FROM contents WHERE path = ? AND identity = ?",
                arguments: [path, identity])
        }
    }

    /// Returns the stored response to a probe of a file, as JSON; nil if there is none for the current version of the file.
    func probe(_ request: String, path: String, identity: String) throws(StateError) -> String? {
        try read { db in
            try String.fetchOne(
                db, sql: "SELECT response FROM probes WHERE path = ? AND request = ? AND identity = ?",
                arguments: [path, request, identity])
        }
    }

    /// The stored report entry of an output.
    struct StoredReport: Sendable {
        /// `TemporaryFile.fingerprint` of the output.
        var output: String
        /// Digest of the job file's contents.
        var spec: String
        /// `RunReport.Job` as JSON.
        var job: String
        /// `JobPreview` as JSON; nil if the report has none.
        var preview: String?
    }

    /// Returns the stored report entries of jobs; empty if they can't be read.
    func storedReports(of jobs: [JobName]) -> [JobName: StoredReport] {
        let found = try? database.read { db in
            var found: [JobName: StoredReport] = [:]
            let statement = try db.cachedStatement(
                sql: "SELECT output, spec, job, preview FROM reports WHERE file = ? AND id = ?")
            for job in jobs {
                guard let row = try Row.fetchOne(statement, arguments: [job.file, job.id]) else { continue }
                let preview = row.text(3)
                found[job] = StoredReport(
                    output: row.text(0), spec: row.text(1), job: row.text(2),
                    preview: preview.isEmpty ? nil : preview)
            }
            return found
        }
        return found ?? [:]
    }

    func runs(limit: Int) throws(StateError) -> [PastRun] {
        try read { db in
            try Row.fetchAll(
                db,
                sql:
                    "SELECT id, begun, ended, files, done, current, failed, status FROM runs ORDER BY id DESC LIMIT ?",
                arguments: [limit]
            ).map { row in
                PastRun(
                    number: row.integer(0), begun: row.number(1) ?? 0, ended: row.number(2),
                    files: Self.fileNames(row.text(3)),
                    done: Int(clamping: row.integer(4)), current: Int(clamping: row.integer(5)),
                    failed: Int(clamping: row.integer(6)),
                    status: PastRun.Status(rawValue: row.text(7)) ?? .died)
            }
        }
    }

    /// Returns the names in a JSON list. Earlier versions wrote names separated by spaces.
    private static func fileNames(_ text: String) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(text.utf8)))
            ?? text.split(separator: " ").map(String.init)
    }

    /// Returns the jobs of a run that did not succeed, and then those whose outputs have warnings.
    func attempts(ofRun run: Int64) throws(StateError) -> [PastRun.Attempt] {
        try read { db in
            let attempts = try Row.fetchAll(
                db, sql: "SELECT file, id, outcome, message, seconds FROM attempts WHERE run = ?",
                arguments: [run]
            ).map {
                PastRun.Attempt(
                    file: $0.text(0), job: $0.text(1),
                    outcome: PastRun.Attempt.Outcome(rawValue: $0.text(2)) ?? .unknown, message: $0.text(3),
                    seconds: $0.number(4) ?? 0)
            }
            return try attempts
                + Self.warnings(db, ofRun: run).map { name, warnings in
                    PastRun.Attempt(
                        file: name.file, job: name.id, outcome: .warned,
                        message: warnings.lines.joined(separator: "; "), seconds: 0)
                }
        }
    }

    private func read<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
        do {
            return try database.read(body)
        } catch {
            throw StateError("the state in \(folder.path) can't be read: \(error)")
        }
    }
}
