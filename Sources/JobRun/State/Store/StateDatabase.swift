internal import Dispatch
internal import GRDB
internal import Glibc
internal import Locking

/// The SQLite database of the state. A database whose schema differs from Tandem's is rejected, and a statement that
/// takes too long is interrupted.
///
/// Unchecked `Sendable`: the connection has its own queue, the start time is protected by a mutex, and the timer is not
/// accessed after its activation.
final class StateDatabase: @unchecked Sendable {
    private let connection: DatabaseQueue
    /// Start of the running transaction; nil if none is running.
    private let statementStart = Guarded<DispatchTime?>(nil)
    private let timer: any DispatchSourceTimer

    /// Opens a database and creates missing tables. A transaction that takes longer than `limit` seconds is interrupted
    /// and counts as damage.
    init(path: String, limit: Double = 60) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.label = "tandem.database"
        configuration.prepareDatabase { db in
            try db.execute(
                sql: "PRAGMA trusted_schema = OFF; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        }
        connection = try DatabaseQueue(path: path, configuration: configuration)
        timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(deadline: .now() + limit / 4, repeating: limit / 4)
        timer.setEventHandler { @Sendable [weak self] in self?.interrupt(after: limit) }
        timer.activate()
        do {
            try prepare()
        } catch {
            timer.cancel()
            throw error
        }
    }

    deinit { timer.cancel() }

    private func prepare() throws {
        // An untrusted database could contain a view in place of a table, or a trigger, whose SQL this process would
        // execute. Therefore the schema must be exactly Tandem's.
        let (statements, isNewer) = try read { db in
            let statements = try StateSchema.statements(of: db)
            guard
                statements == StateSchema.completeSchema
                    || statements.isSubset(of: StateSchema.knownStatements)
            else {
                throw DatabaseError(resultCode: .SQLITE_NOTADB)
            }
            return (statements, try StateSchema.migrator.hasBeenSuperseded(db))
        }
        if isNewer { throw DatabaseError(resultCode: .SQLITE_NOTADB) }
        if statements == StateSchema.completeSchema { return }
        // The start time must not be set: the migrator uses its own transaction, whose duration is bounded by the
        // number of rows.
        try StateSchema.migrator.migrate(connection)
        guard try read(StateSchema.statements) == StateSchema.completeSchema else {
            throw DatabaseError(resultCode: .SQLITE_NOTADB)
        }
    }

    /// Runs `body` in a read transaction.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try connection.read { try timed($0, body) }
    }

    /// Runs `body` in a write transaction.
    func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try connection.write { try timed($0, body) }
    }

    /// Runs `body` without a transaction: each statement is committed separately.
    func writeWithoutTransaction(_ body: (Database) throws -> Void) throws {
        try connection.writeWithoutTransaction { try timed($0, body) }
    }

    /// Runs `body` in a transaction that is rolled back.
    func dryRun(_ body: (Database) throws -> Void) throws {
        try connection.inTransaction { db in
            try timed(db, body)
            return .rollback
        }
    }

    /// Closes the connection permanently.
    func close() throws { try connection.close() }

    private func timed<Value>(_ db: Database, _ body: (Database) throws -> Value) rethrows -> Value {
        statementStart.withLock { $0 = .now() }
        defer { statementStart.withLock { $0 = nil } }
        return try body(db)
    }

    private func interrupt(after limit: Double) {
        if let begun = statementStart.withLock({ $0 }), .now() > begun + limit { connection.interrupt() }
    }

    /// Returns whether an error is caused by the contents of the database, not by its environment.
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return true }
        return ![.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_BUSY, .SQLITE_FULL, .SQLITE_IOERR]
            .contains(error.resultCode)
    }

    /// Renames a damaged database to `<name>.damaged`, and its `-wal` and `-shm` files likewise. If that path exists
    /// and is not a regular file, a random suffix is added.
    static func moveAside(_ path: String) {
        var newPath = path + ".damaged"
        var status = stat()
        if lstat(newPath, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            newPath += "-" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
        }
        for suffix in ["", "-wal", "-shm"] { rename(path + suffix, newPath + suffix) }
    }
}
