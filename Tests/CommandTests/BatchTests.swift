import Foundation
import TestSupport
import Testing

/// Tests repeated runs of a batch: reruns and their reasons, failures, locking, and changes during a run.
@Suite struct BatchTests {
    private func inode(_ path: String) throws -> Int {
        try #require(
            FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int, "no \(path)")
    }

    // MARK: Reruns

    @Test func rerunsExecuteChangedJobsAndExplainWhy() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x90:d=1", "-c:v", "libx264", scratch.file("a.mp4"))
        let jobs = job("one", asset: "./a.mp4") + job("two") + job("three", asset: "{ job: one }")
        try write(jobs, in: scratch)
        let first = try tandem("run", "jobs.yaml", in: scratch)
        #expect(first.status == 0 && first.errors.contains("3 of 3 jobs done\n"), "\(first.errors)")
        let outputs = ["one", "two", "three"].map { scratch.file("out/\($0).mp4") }
        var before = try outputs.map(inode)
        func expect(
            _ done: [String], _ comment: Comment, _ arguments: [String] = [], line: Int = #line
        ) throws {
            let run = try program(
                TestPaths.tandem, ["run", "jobs.yaml"] + arguments, directory: scratch.path)
            #expect(run.status == 0, "line \(line): \(run.errors)")
            let now = try outputs.map(inode)
            let changed = zip(["one", "two", "three"], zip(before, now)).filter { $0.1.0 != $0.1.1 }.map(\.0)
            #expect(changed == done, "line \(line), \(comment): \(run.errors)")
            before = now
        }
        func why(_ id: String) throws -> String { try tandem("explain", "jobs.yaml", id, in: scratch).text }
        try expect([], "nothing changed")
        try write("# a comment\n" + jobs + "\n", in: scratch)
        try expect([], "only comments and blank lines changed")
        #expect(try why("one") == "one: up to date\n")
        try write(
            jobs.replacingOccurrences(
                of:
                    "two: { asset: \(testSignal), tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 30",
                with:
                    "two: { asset: \(testSignal), tracks: [ { video: first, encode: { codec: h264, preset: ultrafast, crf: 31"
            ), in: scratch)
        #expect(try why("two") == "two: will run\n  track 0 crf: 30 → 31\n")
        try expect(["two"], "a setting changed")
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x90:d=2", "-c:v", "libx264", scratch.file("a.mp4"))
        #expect(try why("one").contains("source size: "))
        #expect(try why("three").contains("the job `one`, whose output it reads, runs"))
        try expect(["one", "three"], "a source changed, and a job that reads the output")
        try FileManager.default.removeItem(atPath: outputs[1])
        #expect(try why("two") == "two: will run\n  its output no longer exists: \(outputs[1])\n")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        before = try outputs.map(inode)
        try FileManager.default.removeItem(atPath: scratch.file(".tandem"))
        try expect([], "the state was removed, the outputs have marks")
        try expect(["one", "two", "three"], "with --force", ["--force"])
        // An output that was changed by another program isn't overwritten.
        try Data("x".utf8).write(to: URL(fileURLWithPath: outputs[1]))
        let kept = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            kept.status == 1 && kept.errors.contains("the destination was changed since Tandem published it"),
            "\(kept.errors)")
    }

    @Test func contentFingerprintsIgnoreModificationTimes() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x90:d=1", "-c:v", "libx264", scratch.file("a.mp4"))
        try write(job("one", asset: "./a.mp4"), in: scratch)
        let content = ["run", "--fingerprint", "content", "jobs.yaml"]
        func run(_ arguments: [String]) throws -> String {
            try program(TestPaths.tandem, arguments, directory: scratch.path).errors
        }
        /// Replaces the source by a copy with other metadata.
        func replace() throws {
            try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("b.mp4"))
            try FileManager.default.removeItem(atPath: scratch.file("a.mp4"))
            try FileManager.default.moveItem(atPath: scratch.file("b.mp4"), toPath: scratch.file("a.mp4"))
        }
        #expect(try run(content).contains("done one"))
        try replace()
        #expect(try run(content).contains("1 of them up to date"))
        try replace()
        #expect(try run(["run", "jobs.yaml"]).contains("done one"))
    }

    /// The matches of a pattern are up to date independently of each other. A new match changes `${index}` of the
    /// others; those that use it rerun.
    @Test func newMatchesOfAPatternRunAlone() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("b.wav"))
        func spec(_ name: String) -> String {
            "version: 1\nassets: { all: { path: \"*.wav\" } }\njobs:\n  one: { asset: all, tracks: [ { audio: first, encode: { codec: flac } } ], metadata: { set: { title: \"\(name)\" } }, destination: \"out/${asset.stem}.flac\" }\n"
        }
        try scratch.write(spec("x"), to: "plain.yaml")
        try scratch.write(
            spec("${index}").replacingOccurrences(of: "out/", with: "index/"), to: "index.yaml")
        for file in ["plain.yaml", "index.yaml"] { try tandem("run", file, in: scratch) }
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("a.wav"))
        let plain = try tandem("run", "plain.yaml", in: scratch)
        #expect(plain.errors.contains("done one[a.wav]") && plain.errors.contains("1 of them up to date"))
        let index = try tandem("run", "index.yaml", in: scratch)
        #expect(
            index.errors.contains("done one[a.wav]") && index.errors.contains("done one[b.wav]"),
            "\(index.errors)")
    }

    /// Each match is a job instance, named relative to the pattern's folder, for all spellings of that folder.
    @Test(arguments: ["m/", "./m/", ".//m/./", "../$/m/", "$$/m/"]) func eachMatchOfAPatternIsAJobInstance(
        _ folder: String
    )
        throws
    {
        let scratch = try Scratch()
        let own = (scratch.path as NSString).lastPathComponent
        let pattern = folder.replacing("$$", with: scratch.path).replacing("$", with: own)
        try ffmpeg("-f", "lavfi", "-i", "sine=d=0.1", scratch.file("s.wav"))
        let audio = try Data(contentsOf: URL(fileURLWithPath: scratch.file("s.wav")))
        try FileManager.default.createDirectory(atPath: scratch.file("m"), withIntermediateDirectories: true)
        for number in 0..<12 { try audio.write(to: URL(fileURLWithPath: scratch.file("m/\(number).wav"))) }
        try scratch.write(
            """
            version: 1
            jobs:
              c: { asset: "\(pattern)*.wav", tracks: [ { audio: first, copy: true } ], destination: "out/${asset.stem}.wav" }
            """, to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.errors.contains("12 of 12 jobs done"), "\(result.errors)")
        #expect(result.errors.contains("done c[11.wav]"), "\(result.errors)")
    }

    /// A file that a pattern matches in two ways is one job instance.
    @Test func filesMatchedTwiceAreOneJobInstance() throws {
        let scratch = try Scratch()
        try scratch.write("", to: "x/m/x/y/one.wav")
        try scratch.write("", to: "x/two.wav")
        try scratch.write(
            "version: 1\njobs: { c: { asset: '**/x/**/*.wav', tracks: [ { audio: first, copy: true } ], destination: 'out/${asset.stem}.wav' } }",
            to: "jobs.yaml")
        let result = try tandem("plan", "jobs.yaml", in: scratch)
        #expect(
            !result.errors.contains("two instances") && !result.errors.contains("two jobs"),
            "\(result.errors)")
        #expect(result.errors.contains("one.wav") && result.errors.contains("two.wav"))
    }

    // MARK: State

    @Test func concurrentRunsInOneFolderAreRefused() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        let script = """
            mkdir .tandem; exec 9<>.tandem/lock; flock 9
            "$0" run jobs.yaml 9>&-; echo $?; "$0" run --state other jobs.yaml 9>&- 2>/dev/null; echo $?
            """
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.text == "4\n0\n", "\(result.text)")
        #expect(result.errors.contains("another run is using it"), "\(result.errors)")
    }

    /// With `--wait`, the second run reports the process that holds the lock, and continues when the lock is released.
    @Test func waitingRunsContinueWhenTheLockIsReleased() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        let script = """
            mkdir .tandem; exec 9<>.tandem/lock; flock 9; printf 'process 7: other\\033[2J.yaml' >&9
            "$0" run jobs.yaml 9>&- 2>refused; echo $?
            "$0" run --wait jobs.yaml 9>&- 2>log & pid=$!
            until grep -q waiting log 2>/dev/null; do kill -0 $pid || exit 99; done
            [ -e one.mp4 ] && echo early
            exec 9>&-; wait $pid; echo $?; cat .tandem/lock; cat refused log >&2
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path)
        let lines = result.text.split(separator: "\n")
        #expect(lines.count == 3 && lines[0] == "4" && lines[1] == "0", "\(result.text) \(result.errors)")
        #expect(lines.last?.hasSuffix(": jobs.yaml") == true, "\(result.text)")
        #expect(
            result.errors.components(separatedBy: "process 7: other\u{fffd}[2J.yaml").count == 3,
            "\(result.errors)")
    }

    @Test func signalsEndAWaitingRun() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        let script = """
            mkdir .tandem; exec 9<>.tandem/lock; flock 9
            "$0" run --wait jobs.yaml 9>&- 2>log & pid=$!
            until grep -q waiting log 2>/dev/null; do kill -0 $pid || exit 99; done
            kill -TERM $pid; wait $pid; echo $?
            """
        let result = try program(
            "timeout", ["60", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.text == "143\n", "\(result.text) \(result.errors)")
    }

    /// Every value that affects an output, including environment variables, is part of the shortcut by which a run
    /// skips planning.
    @Test func changedEnvironmentCausesARerun() throws {
        let scratch = try Scratch()
        try scratch.write(
            "version: 1\njobs:\n" + job("a", more: "metadata: { set: { title: \"${env.Q:-none}\" } }")
                + job("b", more: "metadata: { set: { title: \"\\x24{env.Q:-none}\" } }"), to: "jobs.yaml")
        try tandem("run", "jobs.yaml", in: scratch, environment: ["Q": "1"])
        let same = try tandem("run", "-v", "jobs.yaml", in: scratch, environment: ["Q": "1"])
        #expect(same.errors.contains("same a") && same.errors.contains("same b"))
        let other = try tandem("run", "-v", "jobs.yaml", in: scratch, environment: ["Q": "2"])
        #expect(other.errors.contains("done a") && other.errors.contains("done b"), "\(other.errors)")
    }

    /// Changes bytes in place and restores the modification time.
    @Test func contentFingerprintsDetectChangesWithTheSameTime() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("a.wav"))
        try scratch.write(
            "version: 1\njobs: { one: { asset: ./a.wav, tracks: [ { audio: first, encode: { codec: flac } } ], destination: o.flac } }",
            to: "jobs.yaml")
        let content = ["run", "--fingerprint", "content", "jobs.yaml"]
        #expect(try program(TestPaths.tandem, content, directory: scratch.path).status == 0)
        let script =
            "t=$(stat -c %y a.wav); printf '\\1\\2\\3' | dd of=a.wav bs=1 seek=2000 conv=notrunc 2>/dev/null; touch -d \"$t\" a.wav"
        #expect(try program("/bin/bash", ["-c", script], directory: scratch.path).status == 0)
        let rerun = try program(TestPaths.tandem, content, directory: scratch.path)
        #expect(rerun.errors.contains("done one"), "\(rerun.errors)")
    }

    // MARK: Failures

    /// Signals between planning and the first job, and while a job waits for its next attempt, end the run.
    @Test func signalsEndARunBetweenJobsAndAttempts() throws {
        let scratch = try Scratch()
        try write((0..<300).map { job("j\($0)") }.joined(), in: scratch)
        let script = """
            import os, signal, subprocess, sys, time
            for n in range(12):
                if os.path.exists("ev"): os.remove("ev")
                p = subprocess.Popen([sys.argv[1], "run", "--force", "--events", "ev", "jobs.yaml"], stderr=subprocess.DEVNULL)
                while not (os.path.exists("ev") and os.path.getsize("ev")): pass
                time.sleep(n * 0.004)
                p.send_signal([signal.SIGTERM, signal.SIGINT][n % 2])
                if p.wait() != [143, 130][n % 2]: print(n, p.returncode)
            """
        let result = try program("python3", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.text == "" && result.status == 0, "\(result.text) \(result.errors)")
        let pause = """
            import os, signal, subprocess, sys, time
            p = subprocess.Popen([sys.argv[1], "run", "again.yaml"], stderr=subprocess.DEVNULL)
            for n in range(5):
                while True:
                    got = subprocess.run(["pgrep", "-P", str(p.pid)], capture_output=True, text=True).stdout.split()
                    if got: break
                time.sleep(0.3)
                for pid in got:
                    try: os.kill(int(pid), 9)
                    except ProcessLookupError: pass
                if n == 4: time.sleep(0.2)
            begun = time.monotonic(); p.terminate(); print(p.wait(), time.monotonic() - begun < 7)
            """
        try scratch.write(
            "version: 1\njobs:\n"
                + job(
                    "one", asset: endlessSignal,
                    more: "retries: 10"),
            to: "again.yaml")
        let paused = try program("python3", ["-c", pause, TestPaths.tandem], directory: scratch.path)
        #expect(paused.text == "143 True\n", "\(paused.text) \(paused.errors)")
    }

    @Test func failFastStartsNoFurtherJobs() throws {
        let scratch = try Scratch()
        let jobs =
            job("bad", more: "priority: 1, expect: { size: { max: 10B } }") + job("other")
            + job("needs", more: "needs: bad")
        try write(jobs, in: scratch)
        let fast = try tandem("run", "--fail-fast", "--jobs", "1", "jobs.yaml", in: scratch)
        #expect(fast.status == 5 && fast.errors.contains("other: not run, a job failed"), "\(fast.errors)")
        let complete = try tandem("run", "--jobs", "1", "jobs.yaml", in: scratch)
        #expect(complete.status == 5 && complete.errors.contains("done other"), "\(complete.errors)")
        #expect(complete.errors.contains("needs: not run, the job `bad`, which it needs, did not succeed"))
        let only = try tandem("run", "--only", "othr", "jobs.yaml", in: scratch)
        #expect(only.status == 1 || only.status == 3, "\(only.errors)")
        #expect(only.errors.contains("did you mean `other`"), "\(only.errors)")
    }

    /// Jobs start by priority, then by estimated cost, the longest first.
    @Test func jobsStartByPriorityThenByLength() throws {
        let scratch = try Scratch()
        let long = testSignal.replacingOccurrences(of: "1s", with: "4s")
        try write(
            job("short") + job("long", asset: long) + job("late", asset: long, more: "priority: -1")
                + job("urgent", more: "priority: 5"), in: scratch)
        let result = try tandem("run", "--jobs", "1", "jobs.yaml", in: scratch)
        let order = result.errors.split(separator: "\n").filter { $0.hasSuffix(": started") }
        #expect(
            order == ["urgent: started", "long: started", "short: started", "late: started"],
            "\(result.errors)")
    }

    /// Paths and symbolic links out of `--root` are neither read nor written.
    @Test(arguments: ["worker", "none"]) func pathsOutsideTheRootAreRefused(_ isolation: String) throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", try scratch.write("", to: "out.wav"))
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", try scratch.write("", to: "in/a.wav"))
        try scratch.write("", to: "other/x")
        for (link, target) in [
            ("in/link.wav", "../out.wav"), ("in/folder", "../other"), ("in/inner.wav", "a.wav"),
        ] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.file(link), withDestinationPath: target)
        }
        func rule(_ id: String, _ source: String, _ target: String) -> String {
            "  \(id): { asset: \(source), tracks: [ { audio: first, encode: { codec: flac } } ], destination: \(target) }\n"
        }
        try scratch.write(
            "version: 1\njobs:\n" + rule("fine", "./a.wav", "o/a.flac")
                + rule("inner", "./inner.wav", "o/i.flac")
                + rule("up", "../out.wav", "o/up.flac") + rule("link", "./link.wav", "o/l.flac")
                + rule("target", "./a.wav", "../other/t.flac") + rule("through", "./a.wav", "folder/f.flac"),
            to: "in/jobs.yaml")
        let result = try tandem(
            "run", "--isolation", isolation, "--root", "in", "in/jobs.yaml", in: scratch)
        #expect(result.status == 1 && result.errors.contains("2 of 6 jobs done, 4 not"), "\(result.errors)")
        #expect(
            scratch.contents.filter { $0.hasSuffix(".flac") } == ["in/o/a.flac", "in/o/i.flac"],
            "\(scratch.contents)")
        #expect(
            result.errors.contains("it is outside of --root, or a link leads out of it"), "\(result.errors)")
    }

    // MARK: Changes during a run

    @Test func sourcesThatChangeDuringARunAreFailures() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=1280x720:d=20", "-c:v", "libx264", "-preset", "ultrafast",
            scratch.file("a.mp4"))
        try write(job("one", asset: "./a.mp4", video: "codec: h264"), in: scratch)
        let script = """
            "$0" run jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/out"))
            touch -d '1 hour ago' a.mp4; wait $pid
            """
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.status == 1 && log.contains("the source changed while it was read"), "\(log)")
        #expect(scratch.contents == ["a.mp4", "jobs.yaml", "log", "out"])
    }

    @Test func removedOutputFoldersFailOnlyTheirJobs() throws {
        let scratch = try Scratch()
        let long = "{ pattern: testsrc, size: 1280x720, duration: 8s }"
        try write(
            job("gone", asset: long, video: "codec: h264", to: "gone/a.mp4") + job("stays"), in: scratch)
        let script = """
            "$0" run --jobs 2 jobs.yaml 2>log & pid=$!
            \(untilOutputsAreOpen(in: "/gone"))
            rm -r gone; wait $pid
            """
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        let log = try String(contentsOfFile: scratch.file("log"), encoding: .utf8)
        #expect(result.status == 1 && log.contains("1 of 2 jobs done, 1 not"), "\(log)")
        #expect(
            scratch.contents.contains("out/stays.mp4") && !scratch.contents.contains { $0.hasPrefix("gone") })
    }

    /// A source with a new modification time is changed, even if the time is older than the recorded one.
    @Test func sourcesWithOlderTimesAreChanged() throws {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x90:d=1", "-c:v", "libx264", scratch.file("a.mp4"))
        try write(job("one", asset: "./a.mp4"), in: scratch)
        try tandem("run", "jobs.yaml", in: scratch)
        try ffmpeg("-f", "lavfi", "-i", "testsrc2=s=160x90:d=2", "-c:v", "libx264", scratch.file("a.mp4"))
        let old = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 1)]
        try FileManager.default.setAttributes(old, ofItemAtPath: scratch.file("a.mp4"))
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("done one"))
        #expect(try tandem("run", "jobs.yaml", in: scratch).errors.contains("1 of them up to date"))
    }
}
