import Foundation
import GRDB
import Media
import TestSupport
import Testing

@testable import JobRun
@testable import PlanWork
import Publishing

/// Tests interference with an output while it is created and published.
@Suite struct PublishingAttackTests {
    /// Returns a job file with lossless outputs in `out` that have the given title.
    private static func job(outputs: [String], title: String) -> String {
        let lines = outputs.map { "      \($0): { tracks: [ { video: first, encode: { codec: ffv1 } } ] }" }
        return """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                metadata: { set: { title: \(title) } }
                destination: "out/${output}.mkv"
                outputs:
            \(lines.joined(separator: "\n"))
            """
    }

    /// Returns the title of an output; "-" if the file doesn't exist.
    private func title(of name: String, in scratch: Scratch) throws -> String {
        let path = scratch.file("out/\(name).mkv")
        guard FileManager.default.fileExists(atPath: path) else { return "-" }
        let result = try program(
            "ffprobe", ["-v", "error", "-show_entries", "format_tags=title", "-of", "csv=p=0", path],
            directory: scratch.path)
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Tests that a job fails if the output's folder is moved while the job runs.
    @Test func movedOutputFoldersFailTheJob() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: ffv1", to: "out/o.mkv"), to: "jobs.yaml")
        // The injected fault makes the worker wait for four seconds after its output is complete.
        let script = """
            "$0" run --report r.html jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/out"))
            mv out away; mkdir out; wait $pid; echo $?
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:delayAfterOutput"])
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.text == "1\n", "\(result.status) \(result.text) \(log)")
        #expect(log.contains("its folder was moved or replaced"), "\(log)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out/o.mkv")))
    }

    /// Tests that the other outputs are withdrawn, and replaced files are restored, if the last of several outputs
    /// can't be published.
    @Test(arguments: [false, true]) func outputsArePublishedTogetherOrNotAtAll(isRerun: Bool) throws {
        let scratch = try folderWithSource()
        let jobs = { (title: String) in Self.job(outputs: ["a", "b", "c"], title: title) }
        if isRerun {
            try scratch.write(jobs("first"), to: "jobs.yaml")
            #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        }
        try scratch.write(jobs("second"), to: "jobs.yaml")
        // While the worker waits, another file is created at the path of the third output.
        let script = """
            mkdir -p out; ls -i out/a.mkv out/b.mkv > before 2>/dev/null
            "$0" run --report r.html jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/out", count: 3))
            rm -f out/c.mkv; echo theirs > out/c.mkv; wait $pid; echo $?
            ls -i out/a.mkv out/b.mkv > after 2>/dev/null; ls -A out
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:delayAfterOutput"])
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(log.contains("c.mkv"), "\(log)")
        #expect(result.text == (isRerun ? "1\na.mkv\nb.mkv\nc.mkv\n" : "1\nc.mkv\n"), "\(result.text) \(log)")
        #expect(
            try String(contentsOfFile: scratch.file("before"), encoding: .utf8)
                == String(contentsOfFile: scratch.file("after"), encoding: .utf8))
        #expect(try String(contentsOfFile: scratch.file("out/c.mkv"), encoding: .utf8) == "theirs\n")
    }

    /// Tests runs that are killed at each rename while they replace several outputs. Every destination then contains
    /// the old file, the new file or none, and the next run creates the missing outputs and removes temporary files. On
    /// file systems without links, the replaced file is restored.
    @Test func interruptedReplacementsAreCompletedByTheNextRun() throws {
        let scratch = try folderWithSource()
        let jobs = { (title: String) in Self.job(outputs: ["a", "b"], title: title) }
        func titles() throws -> [String] { try ["a", "b"].map { try title(of: $0, in: scratch) } }
        let calls = "rename,renameat,renameat2"
        var (kills, mixed) = (0, 0)
        for number in 1...12 {
            try scratch.write(jobs("old"), to: "jobs.yaml")
            #expect(try tandem("run", "--force", "jobs.yaml", in: scratch).status == 0)
            let isMarked = TemporaryFile.supportsAttributes(scratch.file("out/a.mkv"))
            try scratch.write(jobs("new"), to: "jobs.yaml")
            let died = try program(
                "strace",
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
                    "inject=\(calls):signal=SIGKILL:when=\(number)", TestPaths.tandem, "run", "jobs.yaml",
                ], directory: scratch.path)
            if died.status != 0 { kills += 1 }
            #expect(try titles().allSatisfy { ["old", "new", "-"].contains($0) }, "killed at \(number)")
            let isMixed = try Set(titles()).isSuperset(of: ["old", "new"])
            if isMixed { mixed += 1 }
            let after = try tandem("run", "jobs.yaml", in: scratch)
            #expect(after.status == 0, "killed at \(number): \(after.text)")
            // A partly replaced set is completed from the temporary files, before any job starts. Without marks their
            // plan is unknown, so the job creates them again.
            #expect(
                !isMixed || !isMarked || after.errors.contains("1 of them up to date")
                    || after.errors.contains("nothing to do"),
                "killed at \(number): \(after.errors)")
            #expect(try titles() == ["new", "new"], "killed at \(number)")
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
            #expect(names == ["a.mkv", "b.mkv"], "killed at \(number): \(names)")
        }
        #expect(kills > 1 && mixed > 0)
    }

    /// Tests that an interrupted set is completed only for the plan that created it. Outputs that are up to date for
    /// the current plan, and outputs protected by `if_exists`, are kept.
    @Test func interruptedSetsOfAnotherPlanAreDiscarded() throws {
        let scratch = try folderWithSource()
        let jobs = { (title: String) in Self.job(outputs: ["a", "b"], title: title) }
        func kill() throws {
            let died = try program(
                "strace",
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
                    "inject=renameat2:signal=SIGKILL:when=1", TestPaths.tandem, "run", "jobs.yaml",
                ], directory: scratch.path)
            #expect(died.status != 0)
            #expect(try names().contains { $0.hasSuffix(".set") })
        }
        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
        }
        try scratch.write(jobs("one"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        let b = scratch.file("out/b.mkv")
        let before = try Data(contentsOf: URL(filePath: b))
        try scratch.write(jobs("two"), to: "jobs.yaml")
        try kill()
        // Both outputs are up to date for the first plan.
        try scratch.write(jobs("one"), to: "jobs.yaml")
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(rerun.status == 0, "\(rerun.errors)")
        // Without marks, two files of the same size and modification time can't be distinguished: the job creates both again.
        #expect(try !TemporaryFile.supportsAttributes(b) || Data(contentsOf: URL(filePath: b)) == before)
        #expect(try ["a", "b"].allSatisfy { try title(of: $0, in: scratch) == "one" })
        #expect(try names() == ["a.mkv", "b.mkv"])
        // A record without a process or temporary files, as extracted from an archive.
        try scratch.write("tandem set 1\0" + "7378697629483820647\0a\0b\0c\0", to: "out/.a.mkv.x.set")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
    }

    /// Tests that no output is published if the folder of one of several outputs was moved.
    @Test func movedFolderOfOneOutputPreventsPublishing() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            """
            version: 1
            jobs:
              one:
                asset: ./a.mp4
                destination: "d-${output}/o.mkv"
                outputs:
                  a: { tracks: [ { video: first, encode: { codec: ffv1 } } ] }
                  b: { tracks: [ { video: first, encode: { codec: ffv1 } } ] }
                  c: { tracks: [ { video: first, encode: { codec: ffv1 } } ] }
            """, to: "jobs.yaml")
        let script = """
            "$0" run --report r.html jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/d-[abc]", count: 3))
            mv d-b away; mkdir d-b; wait $pid; echo $?; ls -A d-a d-b d-c away
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:delayAfterOutput"])
        #expect(result.text == "1\naway:\n\nd-a:\n\nd-b:\n\nd-c:\n", "\(result.text)")
    }

    /// Tests that truncated pass files are detected: x264 and x265 don't check whether writing succeeds, and a
    /// truncated file would impair the second pass.
    @Test func truncatedPassFilesAreErrors() throws {
        let files = try PassFiles()
        let position = TrackIndex(output: 0, track: 0)
        let whole =
            "#options: 64x48 fps=25/1\n" + (0..<10).map { "in:\($0) out:\($0) type:P q:20.00 ;\n" }.joined()
        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: files.path(of: position)))
        }
        try write(whole)
        try files.check(position, encoder: "libx264", frames: 10)
        try files.check(position, encoder: "libx265", frames: 10)
        for (text, frames) in [
            (String(whole.dropLast(3)), 10), (String(whole.dropLast(40)), 10), (whole, 11), ("", 10),
            (String(whole.prefix(30)), 10),
        ] {
            try write(text)
            #expect(throws: (any Error).self) {
                try files.check(position, encoder: "libx264", frames: frames)
            }
        }
        // Other encoders keep their statistics in memory, so no file is required.
        try files.check(position, encoder: "libvpx-vp9", frames: 10)
    }

    /// Tests that a statement on the state's database that doesn't terminate is interrupted, and that the next one
    /// works.
    @Test func endlessStatementsOfTheStateAreInterrupted() throws {
        let scratch = try Scratch()
        let database = try StateDatabase(path: scratch.file("state.sqlite"), limit: 0.4)
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        for _ in 0..<2 {
            #expect { _ = try database.read { try Int.fetchOne($0, sql: endless) } } throws: {
                StateDatabase.isDamage($0)
            }
            #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM jobs") } == 0)
        }
    }

    /// Tests that a damaged state is renamed, even if the new path exists.
    @Test func damagedStatesAreMovedAside() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, preset: ultrafast", to: "o.mp4"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        for _ in 0..<2 {
            // A remaining journal would repair the database.
            for name in ["state.sqlite-wal", "state.sqlite-shm"] {
                try? FileManager.default.removeItem(atPath: scratch.file(".tandem/" + name))
            }
            try Data(repeating: 7, count: 8192).write(to: URL(filePath: scratch.file(".tandem/state.sqlite")))
            try FileManager.default.createDirectory(
                atPath: scratch.file(".tandem/state.sqlite.damaged"), withIntermediateDirectories: true)
            let result = try tandem("run", "jobs.yaml", in: scratch)
            // Without marks, the ownership of the output is lost with the state.
            let isMarked = TemporaryFile.supportsAttributes(scratch.file("o.mp4"))
            #expect(result.status == (isMarked ? 0 : 1), "\(result.errors)")
            #expect(
                result.errors.contains(isMarked ? "1 of them up to date" : "Tandem did not publish it"),
                "\(result.errors)")
        }
    }

    /// Tests that pass files of real two-pass encodes are accepted, with reordered frames and short keyframe intervals.
    @Test(arguments: [
        "codec: h264, bitrate: 100k, passes: 2, b_frames: 3",
        "codec: hevc, preset: fast, bitrate: 100k, passes: 2",
        "codec: h264, bitrate: 100k, passes: 2, keyframe_interval: 3, tune: zerolatency",
    ]) func completePassFilesAreAccepted(_ video: String) throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: video, to: "o.mp4"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// Tests a file whose headers take two minutes to read: for each of 200,000 tags, libavformat searches all others.
    @Test func probesHaveATimeLimit() throws {
        let scratch = try Scratch()
        let script = """
            import sys
            def element(number, body):
                size = len(body)
                return number + (size | 1 << 56).to_bytes(8, "big") + body
            tags = b"".join(
                element(b"\\x67\\xc8", element(b"\\x45\\xa3", b"K%d" % n) + element(b"\\x44\\x87", b"v"))
                for n in range(200000))
            tag = element(b"\\x73\\x73", element(b"\\x63\\xc0", b"") + tags)
            head = element(b"\\x1a\\x45\\xdf\\xa3", element(b"\\x42\\x82", b"matroska"))
            track = element(b"\\xae", element(b"\\xd7", b"\\1") + element(b"\\x73\\xc5", b"\\1") + element(b"\\x83", b"\\2")
                + element(b"\\x86", b"A_PCM/INT/LIT") + element(b"\\xe1", element(b"\\xb5", b"\\x40\\xe5\\x88\\x80\\0\\0\\0\\0")
                + element(b"\\x9f", b"\\1") + element(b"\\x62\\x64", b"\\x10")))
            info = element(b"\\x15\\x49\\xa9\\x66", element(b"\\x2a\\xd7\\xb1", b"\\x0f\\x42\\x40"))
            block = element(b"\\xa3", b"\\x81\\0\\0\\x80" + bytes(4410))
            cluster = element(b"\\x1f\\x43\\xb6\\x75", element(b"\\xe7", b"\\0") + block)
            segment = info + element(b"\\x16\\x54\\xae\\x6b", track) + element(b"\\x12\\x54\\xc3\\x67", tag) + cluster
            open(sys.argv[1], "wb").write(head + element(b"\\x18\\x53\\x80\\x67", segment))
            """
        #expect(try program("python3", ["-c", script, scratch.file("tags.mka")]).status == 0)
        let result = try program(
            "timeout", ["60", TestPaths.tandem, "probe", "tags.mka"], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "probe:4"])
        #expect(result.status == 1 && result.errors.contains("didn't finish within 4 s"), "\(result.errors)")
    }
}
