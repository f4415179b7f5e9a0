import Foundation
import GRDB
import Media
import TestSupport
import Testing

@testable import JobRun
import Publishing

/// What happens around an output while it is made.
@Suite struct PublishingAttackTests {
    /// A job of lossless outputs with a title, each of its own file in `out`.
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

    /// Returns the title of an output of such a job; "-" where the file doesn't exist.
    private func title(of name: String, in scratch: Scratch) throws -> String {
        let path = scratch.file("out/\(name).mkv")
        guard FileManager.default.fileExists(atPath: path) else { return "-" }
        let result = try program(
            "ffprobe", ["-v", "error", "-show_entries", "format_tags=title", "-of", "csv=p=0", path],
            directory: scratch.path)
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The output's folder is moved while the job runs: an output that is somewhere else is no success.
    @Test func aFolderThatIsMovedIsAFailure() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: ffv1", to: "out/o.mkv"), to: "jobs.yaml")
        // The worker waits for four seconds once its output is whole.
        let script = """
            "$0" run --report r.html jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/out"))
            mv out away; mkdir out; wait $pid; echo $?
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, Places.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:linger"])
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.text == "1\n", "\(result.status) \(result.text) \(log)")
        #expect(log.contains("its folder was moved or replaced"), "\(log)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out/o.mkv")))
    }

    /// Of several outputs the last can't have its name after all: those that had theirs give them back, and what they had
    /// replaced is there again.
    @Test(arguments: [false, true]) func outputsArePublishedTogetherOrNotAtAll(isRerun: Bool) throws {
        let scratch = try folderWithSource()
        let jobs = { (title: String) in Self.job(outputs: ["a", "b", "c"], title: title) }
        if isRerun {
            try scratch.write(jobs("first"), to: "jobs.yaml")
            #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        }
        try scratch.write(jobs("second"), to: "jobs.yaml")
        // While the worker waits, somebody else's file takes the third one's place.
        let script = """
            mkdir -p out; ls -i out/a.mkv out/b.mkv > before 2>/dev/null
            "$0" run --report r.html jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/out", count: 3))
            rm -f out/c.mkv; echo theirs > out/c.mkv; wait $pid; echo $?
            ls -i out/a.mkv out/b.mkv > after 2>/dev/null; ls -A out
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, Places.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:linger"])
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(log.contains("c.mkv"), "\(log)")
        #expect(result.text == (isRerun ? "1\na.mkv\nb.mkv\nc.mkv\n" : "1\nc.mkv\n"), "\(result.text) \(log)")
        #expect(
            try String(contentsOfFile: scratch.file("before"), encoding: .utf8)
                == String(contentsOfFile: scratch.file("after"), encoding: .utf8))
        #expect(try String(contentsOfFile: scratch.file("out/c.mkv"), encoding: .utf8) == "theirs\n")
    }

    /// A run that replaces several outputs dies at each renaming: every destination is old, new or absent, and the next
    /// run makes what is missing and leaves nothing else. Where there are no links, what was about to be replaced is back.
    @Test func aRunThatDiesWhileItReplacesSeveralOutputs() throws {
        let scratch = try folderWithSource()
        let jobs = { (title: String) in Self.job(outputs: ["a", "b"], title: title) }
        func titles() throws -> [String] { try ["a", "b"].map { try title(of: $0, in: scratch) } }
        let calls = "rename,renameat,renameat2"
        var (kills, mixed) = (0, 0)
        for number in 1...12 {
            try scratch.write(jobs("old"), to: "jobs.yaml")
            #expect(try tandem("run", "--force", "jobs.yaml", in: scratch).status == 0)
            let isMarked = TemporaryFile.takesAttributes(scratch.file("out/a.mkv"))
            try scratch.write(jobs("new"), to: "jobs.yaml")
            let died = try program(
                "strace",
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)", "-e",
                    "inject=\(calls):signal=SIGKILL:when=\(number)", Places.tandem, "run", "jobs.yaml",
                ], directory: scratch.path)
            if died.status != 0 { kills += 1 }
            #expect(try titles().allSatisfy { ["old", "new", "-"].contains($0) }, "killed at \(number)")
            let isMixed = try Set(titles()).isSuperset(of: ["old", "new"])
            if isMixed { mixed += 1 }
            let after = try tandem("run", "jobs.yaml", in: scratch)
            #expect(after.status == 0, "killed at \(number): \(after.text)")
            // A half-replaced set is completed from the finished files, before any job starts. Without marks it isn't
            // known whose they are: the job creates them again.
            #expect(
                !isMixed || !isMarked || after.errors.contains("1 of them up to date")
                    || after.errors.contains("nothing to do"),
                "killed at \(number): \(after.errors)")
            #expect(try titles() == ["new", "new"], "killed at \(number)")
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.file("out")).sorted()
            #expect(left == ["a.mkv", "b.mkv"], "killed at \(number): \(left)")
        }
        #expect(kills > 1 && mixed > 0)
    }

    /// A set that was interrupted is completed for the plan that made it, and no other: outputs that are up to date for the
    /// plan that runs stay, and so does what `if_exists` protects.
    @Test func anInterruptedSetOfAnotherPlanIsDiscarded() throws {
        let scratch = try folderWithSource()
        let jobs = { (title: String) in Self.job(outputs: ["a", "b"], title: title) }
        func kill() throws {
            let died = try program(
                "strace",
                [
                    "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
                    "inject=renameat2:signal=SIGKILL:when=1", Places.tandem, "run", "jobs.yaml",
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
        // Back to the first plan, by which both outputs are up to date.
        try scratch.write(jobs("one"), to: "jobs.yaml")
        let again = try tandem("run", "jobs.yaml", in: scratch)
        #expect(again.status == 0, "\(again.errors)")
        // Without marks, two files of one size that were written within the resolution of the modification time look
        // the same: the job creates both again.
        #expect(try !TemporaryFile.takesAttributes(b) || Data(contentsOf: URL(filePath: b)) == before)
        #expect(try ["a", "b"].allSatisfy { try title(of: $0, in: scratch) == "one" })
        #expect(try names() == ["a.mkv", "b.mkv"])
        // A record without a process or files, as an archive could bring it.
        try scratch.write("tandem set 1\0" + "7378697629483820647\0a\0b\0c\0", to: "out/.a.mkv.x.set")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
    }

    /// One of several outputs is published into a folder that was moved meanwhile: it has no name in the end, nor have others.
    @Test func oneOutputsFolderIsMoved() throws {
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
            "timeout", ["60", "/bin/bash", "-c", script, Places.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "one:linger"])
        #expect(result.text == "1\naway:\n\nd-a:\n\nd-b:\n\nd-c:\n", "\(result.text)")
    }

    /// x264 and x265 don't look whether their notes could be written: the second pass would go by half of them.
    @Test func notesThatAreCutShortAreSeen() throws {
        let files = try PassFiles()
        let place = TrackPlace(output: 0, track: 0)
        let whole =
            "#options: 64x48 fps=25/1\n" + (0..<10).map { "in:\($0) out:\($0) type:P q:20.00 ;\n" }.joined()
        func put(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: files.path(of: place)))
        }
        try put(whole)
        try files.check(place, encoder: "libx264", frames: 10)
        try files.check(place, encoder: "libx265", frames: 10)
        for (text, frames) in [
            (String(whole.dropLast(3)), 10), (String(whole.dropLast(40)), 10), (whole, 11), ("", 10),
            (String(whole.prefix(30)), 10),
        ] {
            try put(text)
            #expect(throws: (any Error).self) { try files.check(place, encoder: "libx264", frames: frames) }
        }
        // Others keep theirs in memory.
        try files.check(place, encoder: "libvpx-vp9", frames: 10)
    }

    /// What never ends in the state's database is interrupted, and the next statement is none the worse for it.
    @Test func statementsOfTheStateEnd() throws {
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

    /// A damaged state is put aside, whatever lies where it would go.
    @Test func aDamagedStateGoesAside() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, preset: ultrafast", to: "o.mp4"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        for _ in 0..<2 {
            // A journal that is left would repair it.
            for name in ["state.sqlite-wal", "state.sqlite-shm"] {
                try? FileManager.default.removeItem(atPath: scratch.file(".tandem/" + name))
            }
            try Data(repeating: 7, count: 8192).write(to: URL(filePath: scratch.file(".tandem/state.sqlite")))
            try FileManager.default.createDirectory(
                atPath: scratch.file(".tandem/state.sqlite.damaged"), withIntermediateDirectories: true)
            let result = try tandem("run", "jobs.yaml", in: scratch)
            // What the output itself doesn't say is lost with the state, and then it is a stranger's.
            let isMarked = TemporaryFile.takesAttributes(scratch.file("o.mp4"))
            #expect(result.status == (isMarked ? 0 : 1), "\(result.errors)")
            #expect(
                result.errors.contains(isMarked ? "1 of them up to date" : "Tandem did not publish it"),
                "\(result.errors)")
        }
    }

    /// Both really write such notes: two passes of each, with frames that are reordered, and of fields.
    @Test(arguments: [
        "codec: h264, bitrate: 100k, passes: 2, b_frames: 3",
        "codec: hevc, preset: fast, bitrate: 100k, passes: 2",
        "codec: h264, bitrate: 100k, passes: 2, keyframe_interval: 3, tune: zerolatency",
    ]) func honestNotesAreTaken(_ video: String) throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: video, to: "o.mp4"), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 0, "\(result.errors)")
    }

    /// A file whose headers take two minutes to read: 200,000 tags, each looked for among all others by libavformat.
    @Test func aLookEndsInTime() throws {
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
            "timeout", ["60", Places.tandem, "probe", "tags.mka"], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "look:4"])
        #expect(result.status == 1 && result.errors.contains("didn't finish within 4 s"), "\(result.errors)")
    }
}
