/// The tables of the state's database. A database with anything else in it is not ours.
enum StateSchema {
    /// Everything that the database has, as it stands there.
    static let statements = [
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
