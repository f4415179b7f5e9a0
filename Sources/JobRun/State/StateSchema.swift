internal import GRDB

/// The tables of the state's database. A database with anything else in it is not ours.
enum StateSchema {
    /// How a database of any earlier program, or an empty one, becomes this one's: a later change is one more migration, and keeps what is
    /// remembered.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("2") { db in
            // Databases of the time before migrations have the same tables, and a number.
            let there = try statements(of: db)
            for statement in tables where !there.contains(statement) { try db.execute(sql: statement) }
        }
        return migrator
    }

    /// What a database has.
    static func statements(of db: Database) throws -> Set<String> {
        try String.fetchSet(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }

    /// Everything that the database has: what migrations make of an empty one, their own notes among it.
    static let known: Set<String> = {
        let made = try? DatabaseQueue()
        if let made { try? migrator.migrate(made) }
        return (try? made?.read { try statements(of: $0) }) ?? []
    }()

    private static let tables = [
        """
        CREATE TABLE jobs (
            file TEXT NOT NULL, id TEXT NOT NULL, shortcut TEXT NOT NULL, digest TEXT NOT NULL,
            parts TEXT NOT NULL, destination TEXT NOT NULL, output TEXT NOT NULL, seconds REAL NOT NULL,
            PRIMARY KEY (file, id)) WITHOUT ROWID
        """,
        "CREATE INDEX jobs_by_destination ON jobs (destination)",
        "CREATE TABLE intents (destination TEXT PRIMARY KEY, output TEXT NOT NULL, digest TEXT NOT NULL)",
        """
        CREATE TABLE former (
            destination TEXT PRIMARY KEY, file TEXT NOT NULL, id TEXT NOT NULL, output TEXT NOT NULL)
        """,
        "CREATE TABLE contents (path TEXT PRIMARY KEY, identity TEXT NOT NULL, digest TEXT NOT NULL)",
        """
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY, begun REAL NOT NULL, ended REAL, files TEXT NOT NULL,
            done INTEGER, current INTEGER, failed INTEGER, status TEXT)
        """,
        """
        CREATE TABLE attempts (
            run INTEGER NOT NULL, file TEXT NOT NULL, id TEXT NOT NULL, outcome TEXT NOT NULL,
            message TEXT NOT NULL, seconds REAL NOT NULL)
        """,
        "CREATE INDEX attempts_of_run ON attempts (run)",
        """
        CREATE TABLE reports (
            file TEXT NOT NULL, id TEXT NOT NULL, output TEXT NOT NULL, spec TEXT NOT NULL,
            job TEXT NOT NULL, preview TEXT, PRIMARY KEY (file, id))
        """,
    ]
}
