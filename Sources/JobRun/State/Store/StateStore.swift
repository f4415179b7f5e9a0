internal import Dispatch
internal import FileSystem
internal import GRDB
internal import Glibc
internal import JobPlan
internal import Locking

/// The SQLite store of published outputs and their digests. Losing it causes reruns, but an outdated record never
/// causes a skip: records are valid only while the output is unchanged.
///
/// Records are written in batches, five times a second. A lost record is restored from the output's mark
/// (`DestinationPath.attribute`). If a file system doesn't support extended attributes, the intent to publish is first
/// written to the store synchronously.
///
/// Unchecked `Sendable`: the database has its own queue, and all other mutable state is protected by a mutex.
final class StateStore: @unchecked Sendable {
    /// The state of writing.
    private struct WriteState: Sendable {
        var pending = PendingRecords()
        /// Whether a batch with the pending records is scheduled.
        var isScheduled = false
        /// Number of the run.
        var run: Int64 = 0
        /// First write error.
        var failure: StateError?
        var isDamaged = false
    }

    let folder: StateFolder
    /// Whether the database was damaged and has been replaced.
    let wasDamaged: Bool
    /// Contents of the store when it was opened.
    let initialContents: StateContents
    /// Results of earlier runs that only save work.
    let results: StoredResults
    private let database: StateDatabase
    private let writeQueue = DispatchQueue(label: "tandem.state")
    private let state = Guarded(WriteState())

    // MARK: Opening

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

    private init(_ folder: StateFolder, path: String, wasDamaged: Bool) throws {
        self.folder = folder
        self.wasDamaged = wasDamaged
        database = try StateDatabase(path: path)
        results = StoredResults(database)
        initialContents = try database.read { try StateContents(in: $0) }
    }

    /// Writes the start of a run and rolls it back, to detect damage that is reported only on writing.
    private func checkWritability() throws {
        try database.dryRun { _ = try RunTable.begin(files: [], in: $0) }
    }

    /// Returns the name of a job file in the store: its path relative to the parent of the state folder, so that moving
    /// the tree doesn't change it.
    func name(ofFile file: String) -> String {
        let absolute = RealPath.absolute(file: file)
        let base = RealPath.absolute(folder.path + "/..") + "/"
        return absolute.hasPrefix(base) ? String(absolute.dropFirst(base.count)) : absolute
    }

    // MARK: Runs

    /// Records the start of a run with the names of its job files.
    func begin(files: [String]) throws(StateError) {
        let run = try write { try RunTable.begin(files: files, in: $0) }
        state.withLock { $0.run = run }
    }

    /// Writes pending records and the end of the run. Returns the first write error.
    func end(done: Int, current: Int, failed: Int, status: RunReport.Status) -> StateError? {
        writeQueue.sync { flush() }
        let run = state.withLock { $0.run }
        writeOrFail {
            try RunTable.end(run, done: done, current: current, failed: failed, status: status, in: $0)
        }
        // Otherwise the next run would fail as well.
        if state.withLock({ $0.isDamaged }) {
            try? database.close()
            StateDatabase.moveAside(folder.path + "/state.sqlite")
        }
        return state.withLock { $0.failure }
    }

    /// Writes pending records.
    func save() throws(StateError) {
        writeQueue.sync { flush() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Returns the latest runs, newest first.
    func runs(limit: Int) throws(StateError) -> [PastRun] {
        try read { try RunTable.runs(limit: limit, in: $0) }
    }

    /// Returns the jobs of a run that did not succeed, and then those whose outputs have warnings.
    func attempts(ofRun run: Int64) throws(StateError) -> [PastRun.Attempt] {
        try read { db in
            try AttemptTable.attempts(ofRun: run, in: db)
                + WarningTable.warnings(ofRun: run, in: db).map { name, warnings in
                    PastRun.Attempt(
                        file: name.file, job: name.id, outcome: .warned,
                        message: warnings.lines.joined(separator: "; "), seconds: 0)
                }
        }
    }

    // MARK: Records in batches

    /// Records the success of a job.
    func record(_ record: Record, digest: PlanDigest?) {
        let success = JobTable.Success(record, digest: digest)
        enqueue { $0.add(success) }
    }

    /// Records the number of an output's files. Records of further files are obsolete.
    func record(_ name: JobName, files: Int, shortcut: Shortcut?) {
        enqueue { $0.add(JobTable.FileCount(name: name, count: files, shortcut: shortcut)) }
    }

    /// Records the outputs into which an output is divided. Records of outputs of other tracks are obsolete.
    func record(_ name: JobName, dividedInto ids: [String]) {
        enqueue { $0.add(FormerOutputTable.Division(name: name, ids: ids)) }
    }

    /// Records warnings about an output.
    func record(_ name: JobName, _ warnings: OutputWarnings) {
        enqueue { $0.add((name, warnings)) }
    }

    /// Records an outcome other than success.
    func record(_ name: JobName, outcome: PastRun.Attempt.Outcome, message: String, seconds: Double) {
        enqueue {
            $0.add(
                PastRun.Attempt(
                    file: name.file, job: name.id, outcome: outcome, message: message, seconds: seconds))
        }
    }

    private func enqueue(_ change: (inout PendingRecords) -> Void) {
        let mustSchedule = state.withLock { state in
            change(&state.pending)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if mustSchedule {
            writeQueue.asyncAfter(deadline: .now() + .milliseconds(200)) { @Sendable in self.flush() }
        }
    }

    private func flush() {
        let (records, run) = state.withLock { state in
            state.isScheduled = false
            return (state.pending.take(), state.run)
        }
        if records.isEmpty { return }
        writeOrFail { try records.write(ofRun: run, in: $0) }
    }

    // MARK: Other records

    /// Records the intent to publish an output that can't be marked. The record is synced to disk when the function
    /// returns.
    func recordIntent(destination: String, _ intent: Intent) throws(StateError) {
        do {
            try database.writeWithoutTransaction {
                try IntentTable.writeSynced(intent, at: destination, in: $0)
            }
        } catch {
            throw writeError(error)
        }
    }

    /// Returns the digest of a job's last success, including its parts.
    func digest(of job: JobName) throws(StateError) -> PlanDigest? {
        try read { try JobTable.digest(of: job, in: $0) }
    }

    /// Deletes the record of the output that a job published at a destination.
    func deleteRecord(_ name: JobName, at destination: String) throws(StateError) {
        try write { db in
            try JobTable.delete(name, at: destination, in: db)
            try FormerOutputTable.delete(at: destination, in: db)
        }
    }

    /// Returns the stored report entries of jobs; empty if they can't be read.
    func storedReports(of jobs: [JobName]) -> [JobName: StoredReport] {
        (try? database.read { try ReportTable.reports(of: jobs, in: $0) }) ?? [:]
    }

    /// Stores report entries, and deletes those without a job record.
    func storeReports(_ reports: [(name: JobName, report: StoredReport)]) {
        writeQueue.sync { flush() }
        writeOrFail { try ReportTable.write(reports, in: $0) }
    }

    // MARK: Transactions

    private func read<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
        do {
            return try database.read(body)
        } catch {
            throw StateError("the state in \(folder.path) can't be read: \(error)")
        }
    }

    private func write<Value>(_ body: (Database) throws -> Value) throws(StateError) -> Value {
        do {
            return try database.write(body)
        } catch {
            throw writeError(error)
        }
    }

    /// Runs `body` in a write transaction. Stores the first error, which `end` returns.
    private func writeOrFail(_ body: (Database) throws -> Void) {
        do {
            try database.write(body)
        } catch {
            let failure = writeError(error)
            let code = (error as? DatabaseError)?.resultCode
            let isDamaged = code == .SQLITE_CORRUPT || code == .SQLITE_NOTADB
            state.withLock { state in
                state.failure = state.failure ?? failure
                state.isDamaged = state.isDamaged || isDamaged
            }
        }
    }

    private func writeError(_ error: any Error) -> StateError {
        StateError("the state in \(folder.path) can't be written: \(error)")
    }
}
