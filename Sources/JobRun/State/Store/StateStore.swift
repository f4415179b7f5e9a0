internal import Dispatch
internal import ExactStrings
internal import FoundationEssentials
internal import GRDB
internal import Glibc
internal import JobPlan
internal import FileSystem
internal import LibAV
internal import Locking
internal import Media

/// The SQLite store of published outputs and their digests. Losing it causes reruns, but an outdated record never
/// causes a skip: records are valid only while the output is unchanged.
///
/// Records are written in batches, five times a second. A lost record is restored from the output's mark
/// (`DestinationPath.attribute`). If a file system doesn't support extended attributes, the intent to publish is first
/// written to the store synchronously.
///
/// Unchecked `Sendable`: the database has its own queue, and all other mutable state is protected by a mutex.
final class StateStore: @unchecked Sendable {
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

    /// The intent to publish an output.
    struct Intent: Sendable, Equatable {
        /// Fingerprint of the output.
        var output: String
        /// Digest of the output's plan; nil if the replaced file has the same fingerprint.
        var digest: DigestValue?
    }

    /// An output that a job published.
    struct PublishedOutput: Sendable {
        var job: JobName
        var destination: String
        var output: String
    }

    private struct Pending: Sendable {
        var records: [(record: Record, parts: String)] = []
        var fileCounts: [(name: JobName, files: Int, shortcut: Shortcut?)] = []
        var divisions: [(name: JobName, ids: [String])] = []
        var attempts: [(name: JobName, outcome: PastRun.Attempt.Outcome, message: String, seconds: Double)] =
            []
        var warnings: [(name: JobName, warnings: OutputWarnings)] = []
        var isScheduled = false
        var run: Int64 = 0
        var failure: StateError?
        var isDamaged = false
    }

    let folder: StateFolder
    /// Whether the database was damaged and has been replaced.
    let wasDamaged: Bool
    let database: StateDatabase
    private let writeQueue = DispatchQueue(label: "tandem.state")
    private let pending = Guarded(Pending())

    /// Contents of the store when it was opened.
    let initialContents:
        (
            records: [JobName: Record], intents: [ExactString: Intent], formerOutputs: [PublishedOutput],
            warnings: [JobName: OutputWarnings]
        )

    /// The result of opening a store.
    enum OpenResult {
        case none
        /// The store is damaged, and must not be replaced because nothing may be written.
        case damaged
        case open(StateStore)
    }

    /// Opens the store of a folder and creates missing files. A damaged store is renamed, and a new one is created.
    /// With `isReading`, nothing is created or renamed.
    static func open(_ folder: StateFolder, isReading: Bool) throws(StateError) -> OpenResult {
        let path = folder.path + "/state.sqlite"
        try folder.check()
        if isReading, access(path, R_OK) != 0 { return .none }
        if !isReading { try folder.create() }
        // Mode 0600: the database may contain values of environment variables.
        if !isReading, access(path, F_OK) != 0 { StateSecret.sign(folder) }
        let file = isReading ? -1 : Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) }
        do {
            let store = try StateStore(folder, path: path, wasDamaged: false)
            if !isReading { try store.checkWritability() }
            return .open(store)
        } catch {
            guard StateDatabase.isDamage(error) else {
                throw StateError("the state in \(folder.path) can't be opened: \(error)")
            }
            if isReading { return .damaged }
            StateDatabase.moveAside(path)
            do {
                return .open(try StateStore(folder, path: path, wasDamaged: true))
            } catch {
                throw StateError("the state in \(folder.path) can't be created: \(error)")
            }
        }
    }

    /// Writes the start of a run and rolls it back, to detect damage that is reported only on writing.
    private func checkWritability() throws {
        try database.dryRun { _ = try Self.begin($0, files: []) }
    }

    private static func begin(_ db: Database, files: [String]) throws -> Int64 {
        let list = String(decoding: try JSONEncoder().encode(files), as: UTF8.self)
        try db.execute(sql: "INSERT INTO runs (begun, files) VALUES (?, ?)", arguments: [now, list])
        let run = db.lastInsertedRowID
        try db.execute(
            sql: """
                DELETE FROM attempts WHERE run <= ?;
                DELETE FROM warnings WHERE run <= ? AND NOT EXISTS
                    (SELECT 1 FROM jobs WHERE jobs.file = warnings.file AND jobs.id = warnings.id
                        AND jobs.output = warnings.output);
                DELETE FROM runs WHERE id <= ?
                """,
            arguments: [run - 200, run - 200, run - 200])
        return run
    }

    private init(_ folder: StateFolder, path: String, wasDamaged: Bool) throws {
        self.folder = folder
        self.wasDamaged = wasDamaged
        database = try StateDatabase(path: path)
        initialContents = try database.read {
            (try Self.records($0), try Self.intents($0), try Self.formerOutputs($0), try Self.warnings($0))
        }
    }

    /// Returns the name of a job file in the store: its path relative to the parent of the state folder, so that moving
    /// the tree doesn't change it.
    func name(ofFile file: String) -> String {
        let absolute = RealPath.absolute(file: file)
        let base = RealPath.absolute(folder.path + "/..") + "/"
        return absolute.hasPrefix(base) ? String(absolute.dropFirst(base.count)) : absolute
    }

    // MARK: Writing

    /// Records the start of a run with the names of its job files.
    func begin(files: [String]) throws(StateError) {
        do {
            let run = try database.write { try Self.begin($0, files: files) }
            pending.withLock { $0.run = run }
        } catch {
            throw StateError("the state in \(folder.path) can't be written: \(error)")
        }
    }

    /// Records the success of a job.
    func record(_ record: Record, digest: PlanDigest?) {
        let parts =
            digest.flatMap { try? JSONEncoder().encode($0) }.map { String(decoding: $0, as: UTF8.self) }
            ?? "{}"
        enqueue { $0.records.append((record, parts)) }
    }

    /// Records the number of an output's files. Records of further files are obsolete.
    func record(_ name: JobName, files: Int, shortcut: Shortcut?) {
        enqueue { $0.fileCounts.append((name, files, shortcut)) }
    }

    /// Records the outputs into which an output is divided. Records of outputs of other tracks are obsolete.
    func record(_ name: JobName, dividedInto ids: [String]) {
        enqueue { $0.divisions.append((name, ids)) }
    }

    /// Records warnings about an output.
    func record(_ name: JobName, _ warnings: OutputWarnings) {
        enqueue { $0.warnings.append((name, warnings)) }
    }

    /// Records an outcome other than success.
    func record(_ name: JobName, outcome: PastRun.Attempt.Outcome, message: String, seconds: Double) {
        enqueue { $0.attempts.append((name, outcome, message, seconds)) }
    }

    /// Records the intent to publish an output that can't be marked. The record is synced to disk when the function
    /// returns.
    func recordIntent(destination: String, _ intent: Intent) throws(StateError) {
        do {
            try database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(
                    sql: "INSERT OR REPLACE INTO intents VALUES (?, ?, ?)",
                    arguments: [destination, intent.output, intent.digest?.text ?? ""])
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
            }
        } catch {
            throw StateError("the state in \(folder.path) can't be written: \(error)")
        }
    }

    /// Stores the digest of a file's bytes. `identity` is the file's change token.
    func record(content digest: String, path: String, identity: String) {
        try? database.write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", arguments: [path, identity, digest])
        }
    }

    /// Stores the response to a probe of a file, in place of the one for an earlier version of the file.
    func record(response: String, to request: String, path: String, identity: String) {
        try? database.write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO probes VALUES (?, ?, ?, ?)",
                arguments: [path, request, identity, response])
        }
    }

    /// Stores report entries, and deletes those without a job record.
    func storeReports(_ reports: [(name: JobName, report: StoredReport)]) {
        writeQueue.sync { flush() }
        do {
            try database.write { db in
                try db.execute(
                    sql: """
                        DELETE FROM reports WHERE NOT EXISTS
                            (SELECT 1 FROM jobs WHERE jobs.file = reports.file AND jobs.id = reports.id);
                        """)
                let insert = try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?, ?, ?)")
                for (name, report) in reports {
                    try insert.execute(arguments: [
                        name.file, name.id, report.output, report.spec, report.job, report.preview,
                    ])
                }
            }
        } catch {
            fail(error)
        }
    }

    /// Deletes the record of the output that a job published at a destination.
    func deleteRecord(_ name: JobName, at destination: String) throws(StateError) {
        do {
            try database.write { db in
                try db.execute(
                    sql: "DELETE FROM jobs WHERE file = ? AND id = ? AND destination = ?",
                    arguments: [name.file, name.id, destination])
                try db.execute(sql: "DELETE FROM former WHERE destination = ?", arguments: [destination])
            }
        } catch {
            throw StateError("the state in \(folder.path) can't be written: \(error)")
        }
    }

    /// Writes pending records and the end of the run. Returns the first write error.
    func end(done: Int, current: Int, failed: Int, status: RunReport.Status) -> StateError? {
        writeQueue.sync { flush() }
        let run = pending.withLock { $0.run }
        do {
            try database.write { db in
                try db.execute(
                    sql:
                        "UPDATE runs SET ended = ?, done = ?, current = ?, failed = ?, status = ? WHERE id = ?",
                    arguments: [Self.now, done, current, failed, status.rawValue, run])
            }
        } catch {
            fail(error)
        }
        // Otherwise the next run would fail as well.
        if pending.withLock({ $0.isDamaged }) {
            try? database.close()
            StateDatabase.moveAside(folder.path + "/state.sqlite")
        }
        return pending.withLock { $0.failure }
    }

    /// Writes pending records.
    func save() throws(StateError) {
        writeQueue.sync { flush() }
        if let failure = pending.withLock({ $0.failure }) { throw failure }
    }

    private func enqueue(_ change: (inout Pending) -> Void) {
        let mustSchedule = pending.withLock { pending in
            change(&pending)
            defer { pending.isScheduled = true }
            return !pending.isScheduled
        }
        if mustSchedule {
            writeQueue.asyncAfter(deadline: .now() + .milliseconds(200)) { @Sendable in self.flush() }
        }
    }

    private func flush() {
        let (records, fileCounts, divisions, attempts, warnings, run) = pending.withLock { pending in
            defer {
                pending.records = []
                pending.fileCounts = []
                pending.divisions = []
                pending.attempts = []
                pending.warnings = []
                pending.isScheduled = false
            }
            return (
                pending.records, pending.fileCounts, pending.divisions, pending.attempts, pending.warnings,
                pending.run
            )
        }
        if records.isEmpty, fileCounts.isEmpty, divisions.isEmpty, attempts.isEmpty, warnings.isEmpty {
            return
        }
        do {
            try database.write { db in
                let insert = try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                let deleteOthers = try db.cachedStatement(
                    sql: "DELETE FROM jobs WHERE destination = ? AND (file <> ? OR id <> ?)")
                let deleteIntent = try db.cachedStatement(
                    sql: "DELETE FROM intents WHERE destination = ? AND output = ?")
                for (record, parts) in records {
                    try Self.recordFormerOutput(record, db)
                    if let destination = record.destination {
                        try deleteIntent.execute(arguments: [destination, record.output])
                        // Removes the record of a job that was renamed and has the same destination.
                        try deleteOthers.execute(arguments: [destination, record.job.file, record.job.id])
                    }
                    try insert.execute(arguments: [
                        record.job.file, record.job.id, record.shortcut?.text ?? "",
                        record.digest?.text ?? "",
                        parts, record.destination, record.output, record.seconds,
                    ])
                }
                let updateShortcut = try db.cachedStatement(
                    sql: "UPDATE jobs SET shortcut = ? WHERE file = ? AND id = ?")
                for (name, files, shortcut) in fileCounts {
                    try Self.retire(filesOf: name, beyond: files, db)
                    if let shortcut {
                        try updateShortcut.execute(arguments: [shortcut.text, name.file, name.id])
                    }
                }
                for (name, ids) in divisions { try Self.retire(tracksOf: name, except: ids, db) }
                let insertAttempt = try db.cachedStatement(
                    sql: "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)")
                for (name, outcome, message, seconds) in attempts {
                    try insertAttempt.execute(arguments: [
                        run, name.file, name.id, outcome.rawValue, message, seconds,
                    ])
                }
                let insertWarning = try db.cachedStatement(sql: "INSERT INTO warnings VALUES (?, ?, ?, ?, ?)")
                for (name, warnings) in warnings {
                    for line in warnings.lines {
                        try insertWarning.execute(arguments: [
                            run, name.file, name.id, warnings.output, line,
                        ])
                    }
                }
            }
        } catch {
            fail(error)
        }
    }

    /// Stores the first write error, which `end` returns.
    private func fail(_ error: any Error) {
        let failure = StateError("the state in \(folder.path) can't be written: \(error)")
        let code = (error as? DatabaseError)?.resultCode
        let isDamaged = code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
        pending.withLock { pending in
            pending.failure = pending.failure ?? failure
            pending.isDamaged = pending.isDamaged || isDamaged
        }
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
