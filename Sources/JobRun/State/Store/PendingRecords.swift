internal import GRDB

/// The records of a run that are written to the database with the next batch.
struct PendingRecords: Sendable {
    private var successes: [JobTable.Success] = []
    private var fileCounts: [JobTable.FileCount] = []
    private var divisions: [FormerOutputTable.Division] = []
    private var attempts: [PastRun.Attempt] = []
    private var warnings: [WarningTable.Entry] = []

    var isEmpty: Bool {
        successes.isEmpty && fileCounts.isEmpty && divisions.isEmpty && attempts.isEmpty && warnings.isEmpty
    }

    mutating func add(_ success: JobTable.Success) { successes.append(success) }
    mutating func add(_ fileCount: JobTable.FileCount) { fileCounts.append(fileCount) }
    mutating func add(_ division: FormerOutputTable.Division) { divisions.append(division) }
    mutating func add(_ attempt: PastRun.Attempt) { attempts.append(attempt) }
    mutating func add(_ entry: WarningTable.Entry) { warnings.append(entry) }

    /// Removes all records. Returns the removed ones.
    mutating func take() -> PendingRecords {
        defer { self = PendingRecords() }
        return self
    }

    /// Writes the records. Successes precede file counts and divisions, which move records of obsolete outputs.
    func write(ofRun run: Int64, in db: Database) throws {
        try JobTable.write(successes, in: db)
        try JobTable.write(fileCounts, in: db)
        for division in divisions { try FormerOutputTable.retire(tracksOutside: division, in: db) }
        try AttemptTable.write(attempts, ofRun: run, in: db)
        try WarningTable.write(warnings, ofRun: run, in: db)
    }
}
