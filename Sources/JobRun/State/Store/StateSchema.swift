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
        migrator.registerMigration("5") { db in
            try separateWarnings(db)
            try allowChecksWithoutDestination(db)
        }
        migrator.registerMigration("6") { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS declined (
                        file TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL,
                        PRIMARY KEY (file, id)) WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("7") { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS probes (
                        path TEXT NOT NULL, request TEXT NOT NULL, identity TEXT NOT NULL, response TEXT NOT NULL,
                        PRIMARY KEY (path, request)) WITHOUT ROWID
                    """)
        }
        return migrator
    }

    /// Moves warnings about outputs to a table of their own. They were attempts, whose message had the output in its first
    /// line.
    private static func separateWarnings(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS warnings (
                    run INTEGER NOT NULL, file TEXT NOT NULL, id TEXT NOT NULL, output TEXT NOT NULL,
                    line TEXT NOT NULL);
                CREATE INDEX IF NOT EXISTS warnings_of_run ON warnings (run)
                """)
        let rows = try Row.fetchAll(
            db, sql: "SELECT run, file, id, message FROM attempts WHERE outcome = 'warned' ORDER BY rowid")
        for row in rows {
            let lines = row.text(3).split(separator: "\n").map(String.init)
            guard let output = lines.first else { continue }
            for line in lines.dropFirst() {
                try db.execute(
                    sql: "INSERT INTO warnings VALUES (?, ?, ?, ?, ?)",
                    arguments: [row.integer(0), row.text(1), row.text(2), output, line])
            }
        }
        try db.execute(sql: "DELETE FROM attempts WHERE outcome = 'warned'")
    }

    /// Stores the missing destination of a check as null. It was an empty text.
    private static func allowChecksWithoutDestination(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE jobs_with_checks (
                    file TEXT NOT NULL, id TEXT NOT NULL, shortcut TEXT NOT NULL, digest TEXT NOT NULL,
                    parts TEXT NOT NULL, destination TEXT, output TEXT NOT NULL, seconds REAL NOT NULL,
                    PRIMARY KEY (file, id)) WITHOUT ROWID;
                INSERT INTO jobs_with_checks
                    SELECT file, id, shortcut, digest, parts, nullif(destination, ''), output, seconds FROM jobs;
                DROP TABLE jobs;
                ALTER TABLE jobs_with_checks RENAME TO jobs;
                CREATE INDEX jobs_by_destination ON jobs (destination);
                CREATE INDEX jobs_without_parts ON jobs (
                    file, id, shortcut, digest, destination, output, seconds)
                """)
    }

    /// Returns the SQL statements of a database's schema.
    static func statements(of db: Database) throws -> Set<String> {
        try String.fetchSet(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    }

    /// The statements of the current version: the result of the migrations in an empty database, including the migrator's
    /// own table.
    static let completeSchema: Set<String> = {
        guard let database = try? DatabaseQueue() else { return [] }
        try? migrator.migrate(database)
        return (try? database.read { try statements(of: $0) }) ?? []
    }()

    /// The statements of all versions. Needed only for a database of an earlier version.
    static let knownStatements: Set<String> = {
        guard let database = try? DatabaseQueue() else { return [] }
        return migrator.migrations.reduce(into: []) { known, version in
            try? migrator.migrate(database, upTo: version)
            known.formUnion((try? database.read { try statements(of: $0) }) ?? [])
        }
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
