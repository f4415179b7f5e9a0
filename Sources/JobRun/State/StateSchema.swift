internal import GRDB

/// The tables of the state's database. A database with any other schema is rejected.
enum StateSchema {
    /// Migrations from an empty database or one of an earlier version. Schema changes are added as further migrations,
    /// which preserve the records.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("2") { db in
            // Databases from before migrations were introduced have the same tables, and a version number.
            let existing = try statements(of: db)
            for statement in tables where !existing.contains(statement) { try db.execute(sql: statement) }
        }
        migrator.registerMigration("3") { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS renditions (
                        destination TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, output TEXT NOT NULL,
                        description TEXT NOT NULL, PRIMARY KEY (destination, id)) WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("4") { db in
            // Contains all columns but `parts`, which are long: they would be read from disk with each record.
            try db.execute(
                sql: """
                    CREATE INDEX IF NOT EXISTS jobs_without_parts ON jobs (
                        file, id, shortcut, digest, destination, output, seconds)
                    """)
        }
        return migrator
    }

    /// Returns the SQL statements of a database's schema.
    static func statements(of db: Database) throws -> Set<String> {
        try String.fetchSet(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }

    /// The complete schema: the result of the migrations in an empty database, including the migrator's own table.
    static let completeSchema: Set<String> = {
        let database = try? DatabaseQueue()
        if let database { try? migrator.migrate(database) }
        return (try? database?.read { try statements(of: $0) }) ?? []
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
