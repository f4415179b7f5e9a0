import Foundation
import TestSupport
import Testing

/// Tests a damaged state, migrations, and outputs that no job declares any more.
extension BatchTests {
    /// G6: a truncated store causes at most a rerun, and never a wrongly skipped job.
    @Test func damagedStoresCostAtMostARerun() throws {
        let scratch = try Scratch()
        try write(job("one") + job("two"), in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        let store = scratch.file(".tandem/state.sqlite")
        let whole = try Data(contentsOf: URL(fileURLWithPath: store))
        let step = TestPaths.isQuick ? max(1, whole.count / 12) : max(1, whole.count / 60)
        try write(job("one") + job("two", video: "codec: h264, preset: ultrafast, crf: 40"), in: scratch)
        for length in stride(from: 0, to: whole.count, by: step) {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
            try whole.prefix(length).write(to: URL(fileURLWithPath: store))
            let result = try tandem("run", "-v", "--only", "two", "jobs.yaml", in: scratch)
            #expect(result.status == 0, "\(length): \(result.errors)")
            let isFirst = length == 0
            #expect(result.errors.contains(isFirst ? "done two" : "same two"), "\(length): \(result.errors)")
        }
        // Damage that SQLite detects only when it reads rows: the store is renamed, reported, and replaced by the next
        // run.
        for (from, comment) in [(4096, "a page"), (8192, "another page")] where whole.count > from + 4096 {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
            var broken = whole
            for index in from..<(from + 4096) { broken[index] = 0x5a }
            try broken.write(to: URL(fileURLWithPath: store))
            for command in [["history"], ["plan"]] {
                let read = try program(TestPaths.tandem, command + ["jobs.yaml"], directory: scratch.path)
                #expect(read.status == 0, "\(comment): \(read.errors)")
            }
            let first = try tandem("run", "-v", "jobs.yaml", in: scratch)
            #expect(first.status == 0 && first.errors.contains("same one"), "\(comment): \(first.errors)")
            let second = try tandem("run", "-v", "jobs.yaml", in: scratch)
            #expect(second.status == 0 && !second.errors.contains("damaged"), "\(comment): \(second.errors)")
        }
        // For each damaged page: no run fails, and the third run reports nothing.
        for page in 1..<(whole.count / 4096) {
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
            var broken = whole
            for index in (page * 4096)..<((page + 1) * 4096) { broken[index] = 0 }
            try broken.write(to: URL(fileURLWithPath: store))
            for _ in 0..<2 {
                let run = try tandem("run", "-v", "jobs.yaml", in: scratch)
                #expect(run.status == 0 && run.errors.contains("same one"), "\(page): \(run.errors)")
            }
            let healed = try tandem("run", "-v", "jobs.yaml", in: scratch)
            #expect(healed.status == 0 && !healed.errors.contains("warning"), "\(page): \(healed.errors)")
        }
        var noise = whole
        for index in stride(from: 200, to: noise.count, by: 37) { noise[index] ^= 0x5a }
        try noise.write(to: URL(fileURLWithPath: store))
        let result = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(result.status == 0 && result.errors.contains("same one"), "\(result.errors)")
    }

    /// Stores from before GRDB's migrations are kept; stores of a later version are renamed.
    @Test func olderStoresAreKeptAndNewerStoresMovedAside() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        func change(_ sql: String) throws {
            let result = try program("sqlite3", [scratch.file(".tandem/state.sqlite"), sql])
            #expect(result.status == 0, "\(result.errors)")
        }
        // The tables of version 2, with the jobs as they were stored before version 5.
        let downgrade = """
            DROP TABLE warnings; DROP TABLE renditions;
            DROP INDEX jobs_without_parts; DROP INDEX jobs_by_destination;
            ALTER TABLE jobs RENAME TO later;
            CREATE TABLE jobs (
                file TEXT NOT NULL, id TEXT NOT NULL, shortcut TEXT NOT NULL, digest TEXT NOT NULL,
                parts TEXT NOT NULL, destination TEXT NOT NULL, output TEXT NOT NULL, seconds REAL NOT NULL,
                PRIMARY KEY (file, id)) WITHOUT ROWID;
            INSERT INTO jobs SELECT * FROM later; DROP TABLE later;
            CREATE INDEX jobs_by_destination ON jobs (destination);
            """
        try change(downgrade + "DROP TABLE grdb_migrations; PRAGMA user_version = 2")
        let old = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(old.status == 0 && old.errors.contains("same one") && !old.errors.contains("damaged"))
        let listed = try tandem("history", "jobs.yaml", in: scratch)
        #expect(listed.text.split(separator: "\n").count >= 2, "\(listed.text)")
        try change(downgrade + "DELETE FROM grdb_migrations WHERE identifier > '2'")
        let earlier = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(earlier.status == 0 && !earlier.errors.contains("damaged"), "\(earlier.errors)")
        try change("INSERT INTO grdb_migrations VALUES ('99')")
        let new = try tandem("run", "-v", "jobs.yaml", in: scratch)
        #expect(
            new.status == 0 && new.errors.contains("was damaged, and a new one is created"), "\(new.errors)")
    }

    @Test func cleanListsThenRemovesUndeclaredOutputs() throws {
        let scratch = try Scratch()
        try write(job("one") + job("two") + job("three"), in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        try Data("x".utf8).write(to: URL(fileURLWithPath: scratch.file("out/three.mp4")))
        try write(job("one"), in: scratch)
        let listed = try tandem("clean", "jobs.yaml", in: scratch)
        #expect(listed.text == "\(scratch.file("out/two.mp4"))  (two of jobs.yaml)\n", "\(listed.text)")
        #expect(scratch.contents.contains("out/two.mp4"))
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).status == 0)
        #expect(scratch.contents == ["jobs.yaml", "out", "out/one.mp4", "out/three.mp4"])
        #expect(try tandem("clean", "jobs.yaml", in: scratch).text == "")
        let history = try tandem("history", "--format", "json", "jobs.yaml", in: scratch)
        let runs = try JSONSerialization.jsonObject(with: history.output) as? [[String: Any]]
        #expect(runs?.count == 1 && (runs?.first?["run"] as? [String: Any])?["done"] as? Int == 3)
    }

    /// The history of a job file includes no runs of files whose names contain its name, and runs that an earlier version
    /// recorded.
    @Test func historyContainsRunsOfTheFileAlone() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        try FileManager.default.createDirectory(
            atPath: scratch.file("other"), withIntermediateDirectories: false)
        for copy in ["my jobs.yaml", "other/jobs.yaml"] {
            try FileManager.default.copyItem(atPath: scratch.file("jobs.yaml"), toPath: scratch.file(copy))
        }
        func runs(_ file: String) throws -> [[String]] {
            let history = try tandem("history", "--state", "s", "--format", "json", file, in: scratch)
            let entries = try JSONSerialization.jsonObject(with: history.output) as? [[String: Any]]
            return (entries ?? []).compactMap { ($0["run"] as? [String: Any])?["files"] as? [String] }
        }
        try tandem("run", "--state", "s", "jobs.yaml", in: scratch)
        try tandem("run", "--state", "s", "my jobs.yaml", in: scratch)
        #expect(try runs("jobs.yaml") == [["jobs.yaml"]])
        #expect(try runs("my jobs.yaml") == [["my jobs.yaml"]])
        #expect(try runs("other/jobs.yaml") == [])
        let change = "UPDATE runs SET files = 'a.yaml jobs.yaml' WHERE id = 2"
        #expect(try program("sqlite3", [scratch.file("s/state.sqlite"), change]).status == 0)
        #expect(try runs("jobs.yaml") == [["a.yaml", "jobs.yaml"], ["jobs.yaml"]])
    }

    /// `clean` keeps outputs that are still declared, are read by a job, or belong to another job file, by any path.
    @Test func cleanKeepsOutputsInUse() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        try FileManager.default.moveItem(atPath: scratch.file("out"), toPath: scratch.file("far"))
        try FileManager.default.createSymbolicLink(atPath: scratch.file("out"), withDestinationPath: "far")
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).text == "")
        try FileManager.default.removeItem(atPath: scratch.file("out"))
        try FileManager.default.moveItem(atPath: scratch.file("far"), toPath: scratch.file("out"))
        try write(job("two", asset: "out/one.mp4"), in: scratch)
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).text == "")
        // A job file in another folder declares the same output and adopts it.
        try scratch.write("version: 1\njobs:\n" + job("one", to: "../out/one.mp4"), to: "b/jobs.yaml")
        #expect(try tandem("run", "-v", "b/jobs.yaml", in: scratch).errors.contains("same one"))
        try write(job("three"), in: scratch)
        #expect(try tandem("clean", "--yes", "jobs.yaml", in: scratch).text == "")
        #expect(scratch.contents.contains("out/one.mp4"))
        try scratch.write("version: 1\njobs:\n" + job("four"), to: "b/jobs.yaml")
        #expect(try tandem("clean", "--yes", "b/jobs.yaml", in: scratch).text.hasPrefix("removed "))
        #expect(!scratch.contents.contains("out/one.mp4"))
    }
}
