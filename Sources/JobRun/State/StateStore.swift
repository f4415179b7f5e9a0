internal import Dispatch
internal import ExactStrings
internal import FoundationEssentials
internal import GRDB
internal import Glibc
internal import JobPlan
internal import LibAV
internal import Locking
internal import Media

/// What was published before and how, in SQLite. Losing it costs reruns, never a wrong skip: whatever it says of an
/// output counts only while the output itself is as it was then.
///
/// Records are written together, a few times a second: an output carries its own mark (`DestinationPath.attribute`), so
/// a record that is lost is found again there. Where a file system has no attributes, what is about to be published is
/// on disk here first.
///
/// Unchecked `Sendable`: the database has its own queue, everything else is behind the mutex.
final class StateStore: @unchecked Sendable {
    /// What is remembered of a job's last success.
    struct Record: Sendable {
        var job: JobName
        var shortcut: String
        var digest: String
        var destination: String
        var output: String
        var seconds: Double

        var place: Former { Former(job: job, destination: destination, output: output) }
    }

    /// A job by its file, as the store names it, and its id.
    struct JobName: Hashable, Sendable {
        private let exactFile: ExactString
        private let exactID: ExactString
        var file: String { exactFile.text }
        var id: String { exactID.text }

        init(file: String, id: String) { (exactFile, exactID) = (file.exact, id.exact) }
    }

    /// An output that was about to be published, and what it was made by.
    struct Intent: Sendable, Equatable {
        var output: String
        var digest: String
    }

    /// What a job published before it went elsewhere.
    struct Former: Sendable {
        var job: JobName
        var destination: String
        var output: String
    }

    private struct Pending: Sendable {
        var records: [(record: Record, parts: String)] = []
        var wholes: [(name: JobName, files: Int, shortcut: String?)] = []
        var attempts: [(name: JobName, outcome: String, message: String, seconds: Double)] = []
        var isScheduled = false
        var run: Int64 = 0
        var failure: StateError?
        var isDamaged = false
    }

    let folder: StateFolder
    /// A damaged one was put aside.
    let wasDamaged: Bool
    let database: StateDatabase
    private let writing = DispatchQueue(label: "tandem.state")
    private let pending = Guarded(Pending())

    /// What was known when it was opened.
    let first:
        (
            records: [JobName: Record], intents: [ExactString: Intent], former: [Former],
            warned: [JobName: Warned]
        )

    /// What became of opening a store.
    enum Opening {
        /// There is none.
        case none
        /// There is one that can't be read, and nothing is to be written.
        case damaged
        /// It is open.
        case open(StateStore)
    }

    /// Opens the store of a folder, and makes what is missing. `isReading` makes nothing. One that is damaged anywhere that
    /// matters is put aside, and a new one begun.
    static func open(_ folder: StateFolder, isReading: Bool) throws(StateError) -> Opening {
        let path = folder.path + "/state.sqlite"
        try folder.check()
        if isReading, access(path, R_OK) != 0 { return .none }
        if !isReading { try folder.make() }
        // It is made for this user alone: what the environment said may be in it.
        if !isReading, access(path, F_OK) != 0 { StateSecret.sign(folder) }
        let file = isReading ? -1 : Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if file >= 0 { close(file) }
        do {
            let store = try StateStore(folder, path: path, wasDamaged: false)
            if !isReading { try store.tryWriting() }
            return .open(store)
        } catch {
            guard StateDatabase.isDamage(error) else {
                throw StateError("the state in \(folder.path) can't be opened: \(error)")
            }
            if isReading { return .damaged }
            StateDatabase.putAside(path)
            do {
                return .open(try StateStore(folder, path: path, wasDamaged: true))
            } catch {
                throw StateError("the state in \(folder.path) can't be made: \(error)")
            }
        }
    }

    /// Does what the beginning of a run does, and takes it back: damage that only writing meets is met here.
    private func tryWriting() throws {
        try database.rehearse { _ = try Self.begin($0, files: "") }
    }

    private static func begin(_ db: Database, files: String) throws -> Int64 {
        try db.execute(sql: "INSERT INTO runs (begun, files) VALUES (?, ?)", arguments: [now, files])
        let run = db.lastInsertedRowID
        try db.execute(
            sql: """
                DELETE FROM attempts WHERE run <= ? AND NOT (outcome = 'warned' AND EXISTS
                    (SELECT 1 FROM jobs WHERE jobs.file = attempts.file AND jobs.id = attempts.id
                        AND attempts.message LIKE jobs.output || char(10) || '%'));
                DELETE FROM runs WHERE id <= ?
                """,
            arguments: [run - 200, run - 200])
        return run
    }

    private init(_ folder: StateFolder, path: String, wasDamaged: Bool) throws {
        self.folder = folder
        self.wasDamaged = wasDamaged
        database = try StateDatabase(path: path)
        first = try database.read {
            (try Self.records($0), try Self.intents($0), try Self.former($0), try Self.warned($0))
        }
    }

    /// A job file's name in the store: relative to the folder that the state lies in, so that a moved tree keeps it.
    func name(ofFile file: String) -> String {
        let absolute = StateFolder.absolute(file: file)
        let base = StateFolder.absolute(folder.path + "/..") + "/"
        return absolute.hasPrefix(base) ? String(absolute.dropFirst(base.count)) : absolute
    }

    // MARK: Writing

    /// A run begins.
    func begin(files: String) throws(StateError) {
        do {
            let run = try database.write { try Self.begin($0, files: files) }
            pending.withLock { $0.run = run }
        } catch {
            throw StateError("the state in \(folder.path) can't be written: \(error)")
        }
    }

    /// A job succeeded.
    func note(_ record: Record, digest: PlanDigest?) {
        let parts =
            digest.flatMap { try? JSONEncoder().encode($0) }.map { String(decoding: $0, as: UTF8.self) }
            ?? "{}"
        later { $0.records.append((record, parts)) }
    }

    /// An output has so many files, and none beyond them.
    func note(_ name: JobName, files: Int, shortcut: String?) {
        later { $0.wholes.append((name, files, shortcut)) }
    }

    /// A job ended otherwise.
    func note(_ name: JobName, outcome: String, message: String, seconds: Double) {
        later { $0.attempts.append((name, outcome, message, seconds)) }
    }

    /// An output without a mark of its own is about to be published: on disk when this returns.
    func intend(destination: String, _ intent: Intent) throws(StateError) {
        do {
            try database.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                try db.execute(
                    sql: "INSERT OR REPLACE INTO intents VALUES (?, ?, ?)",
                    arguments: [destination, intent.output, intent.digest])
                try db.execute(sql: "PRAGMA synchronous = NORMAL")
            }
        } catch {
            throw StateError("the state in \(folder.path) can't be written: \(error)")
        }
    }

    /// The digest of a file's bytes.
    func note(content digest: String, path: String, identity: String) {
        try? database.write { db in
            try db.execute(
                sql: "INSERT OR REPLACE INTO contents VALUES (?, ?, ?)", arguments: [path, identity, digest])
        }
    }

    /// Keeps what a report said, and forgets what was said of jobs that are gone.
    func keep(_ said: [(name: JobName, said: Said)]) {
        writing.sync { flush() }
        do {
            try database.write { db in
                try db.execute(
                    sql: """
                        DELETE FROM reports WHERE NOT EXISTS
                            (SELECT 1 FROM jobs WHERE jobs.file = reports.file AND jobs.id = reports.id);
                        """)
                let put = try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO reports VALUES (?, ?, ?, ?, ?, ?)")
                for (name, said) in said {
                    try put.execute(arguments: [
                        name.file, name.id, said.output, said.spec, said.job, said.preview,
                    ])
                }
            }
        } catch {
            fail(error)
        }
    }

    /// Forgets what a job published at a place.
    func forget(_ name: JobName, at destination: String) throws(StateError) {
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

    /// The run is over: everything is written. Tells what could not be.
    func end(done: Int, current: Int, failed: Int, status: String) -> StateError? {
        writing.sync { flush() }
        let run = pending.withLock { $0.run }
        do {
            try database.write { db in
                try db.execute(
                    sql:
                        "UPDATE runs SET ended = ?, done = ?, current = ?, failed = ?, status = ? WHERE id = ?",
                    arguments: [Self.now, done, current, failed, status, run])
            }
        } catch {
            fail(error)
        }
        // What can't be repaired would fail the next run as well.
        if pending.withLock({ $0.isDamaged }) {
            try? database.close()
            StateDatabase.putAside(folder.path + "/state.sqlite")
        }
        return pending.withLock { $0.failure }
    }

    private func later(_ change: (inout Pending) -> Void) {
        let mustSchedule = pending.withLock { pending in
            change(&pending)
            defer { pending.isScheduled = true }
            return !pending.isScheduled
        }
        if mustSchedule {
            writing.asyncAfter(deadline: .now() + .milliseconds(200)) { @Sendable in self.flush() }
        }
    }

    private func flush() {
        let (records, wholes, attempts, run) = pending.withLock { pending in
            defer {
                pending.records = []
                pending.wholes = []
                pending.attempts = []
                pending.isScheduled = false
            }
            return (pending.records, pending.wholes, pending.attempts, pending.run)
        }
        if records.isEmpty, wholes.isEmpty, attempts.isEmpty { return }
        do {
            try database.write { db in
                let put = try db.cachedStatement(
                    sql: "INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
                let forget = try db.cachedStatement(
                    sql: "DELETE FROM jobs WHERE destination = ? AND (file <> ? OR id <> ?)")
                let fulfil = try db.cachedStatement(
                    sql: "DELETE FROM intents WHERE destination = ? AND output = ?")
                for (record, parts) in records {
                    try fulfil.execute(arguments: [record.destination, record.output])
                    try Self.move(record, db)
                    // A job that was renamed.
                    try forget.execute(arguments: [record.destination, record.job.file, record.job.id])
                    try put.execute(arguments: [
                        record.job.file, record.job.id, record.shortcut, record.digest, parts,
                        record.destination, record.output, record.seconds,
                    ])
                }
                let shorten = try db.cachedStatement(
                    sql: "UPDATE jobs SET shortcut = ? WHERE file = ? AND id = ?")
                for (name, files, shortcut) in wholes {
                    try Self.leave(filesOf: name, beyond: files, db)
                    if let shortcut { try shorten.execute(arguments: [shortcut, name.file, name.id]) }
                }
                let note = try db.cachedStatement(sql: "INSERT INTO attempts VALUES (?, ?, ?, ?, ?, ?)")
                for (name, outcome, message, seconds) in attempts {
                    try note.execute(arguments: [run, name.file, name.id, outcome, message, seconds])
                }
            }
        } catch {
            fail(error)
        }
    }

    /// What could not be written is told at the end.
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
