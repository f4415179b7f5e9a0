import Foundation
import GRDB
import JobPlan
import TestSupport
import Testing

@testable import JobRun

/// Tests that a migration keeps the records of earlier versions.
@Suite struct StateMigrationTests {
    /// Up to version 4, warnings were attempts, and the destination of a check was an empty text.
    @Test func version5_keepsWarningsAndChecks() throws {
        let scratch = try Scratch()
        let path = scratch.file("state.sqlite")
        let old = try DatabaseQueue(path: path)
        try StateSchema.migrator.migrate(old, upTo: "4")
        try old.write { db in
            try db.execute(
                sql: """
                    INSERT INTO jobs VALUES ('f', 'check', '', 'd', '{}', '', 'd', 1);
                    INSERT INTO jobs VALUES ('f', 'web', '', 'e', '{}', '/o.mp4', '1-2.3', 2);
                    INSERT INTO attempts VALUES (7, 'f', 'web', 'warned', '1-2.3' || char(10) || 'a' || char(10) || 'b', 0);
                    INSERT INTO attempts VALUES (7, 'f', 'x', 'failed', 'why', 3);
                    INSERT INTO attempts VALUES (8, 'f', 'y', 'warned', '', 0);
                    """)
        }
        try old.close()
        let database = try StateDatabase(path: path)
        try database.read { db in
            let records = try JobTable.records(in: db)
            let (check, web) = (
                StateStore.JobName(file: "f", id: "check"), StateStore.JobName(file: "f", id: "web")
            )
            #expect(
                records.count == 2 && records[check]?.destination == nil
                    && records[check]?.digest?.text == "d")
            #expect(records[web]?.destination == "/o.mp4" && records[web]?.output == "1-2.3")
            #expect(records.values.allSatisfy { $0.shortcut == nil })
            let warnings = try WarningTable.latestWarnings(in: db)
            #expect(
                warnings.count == 1 && warnings[web]?.output == "1-2.3" && warnings[web]?.lines == ["a", "b"])
            #expect(try String.fetchAll(db, sql: "SELECT outcome FROM attempts") == ["failed"])
            #expect(try WarningTable.warnings(ofRun: 7, in: db).map(\.1.lines) == [["a", "b"]])
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"])
        }
    }

    /// A database may contain any text in place of an outcome.
    @Test func outcomesOfAttempts_areKnownWords() throws {
        let scratch = try Scratch()
        let database = try StateDatabase(path: scratch.file("state.sqlite"))
        try database.write { db in
            for outcome in ["'failed'", "'not run'", "'odd'", "''", "x'00'", "7"] {
                try db.execute(sql: "INSERT INTO attempts VALUES (1, 'f', 'x', \(outcome), 'why', 3)")
            }
        }
        try database.close()
        let opened = try StateStore.open(StateFolder(path: scratch.path), isReading: true)
        guard case .open(let store) = opened else { throw ProgramError(message: "\(opened)") }
        #expect(
            try store.attempts(ofRun: 1).map(\.outcome) == [
                .failed, .notRun, .unknown, .unknown, .unknown, .unknown,
            ])
    }

    /// A schema of an earlier version is accepted only with exactly its statements.
    @Test func earlierSchemaWithTrigger_isRejected() throws {
        let scratch = try Scratch()
        let path = scratch.file("state.sqlite")
        let old = try DatabaseQueue(path: path)
        try StateSchema.migrator.migrate(old, upTo: "4")
        try old.write {
            try $0.execute(sql: "CREATE TRIGGER t AFTER INSERT ON jobs BEGIN DELETE FROM runs; END")
        }
        try old.close()
        #expect(throws: DatabaseError.self) { _ = try StateDatabase(path: path) }
    }
}
