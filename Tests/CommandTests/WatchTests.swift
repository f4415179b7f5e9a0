import Foundation
import TestSupport
import Testing

/// Tests `tandem watch` as a process. Each script ends it by a signal, and prints what is wrong.
@Suite struct WatchTests {
    /// Starts a watch, and waits for lines of its output; all lines are printed if one doesn't come.
    private let prelude = """
        import json, os, shutil, signal, subprocess, sys
        def start(*arguments):
            global watch, lines
            lines = []
            watch = subprocess.Popen([sys.argv[1], "watch", "--settle", "0.2", *arguments, "jobs.yaml"],
                                     stderr=subprocess.PIPE, text=True)
        def expect(text):
            def fail(*_):
                watch.kill()
                print("no", repr(text), "in", lines)
                sys.exit(1)
            # A line that never comes would stop all tests.
            signal.signal(signal.SIGALRM, fail)
            signal.alarm(120)
            while True:
                line = watch.stderr.readline()
                lines.append(line)
                if text in line: return
                if not line: fail()
        def end(number=signal.SIGTERM):
            watch.send_signal(number)
            lines.extend(watch.stderr)
            return watch.wait()

        """

    private func run(_ script: String, in scratch: Scratch, more files: [String: String] = [:]) throws {
        for (name, text) in files { try scratch.write(text, to: name) }
        let result = try program(
            "python3", ["-c", prelude + script, TestPaths.tandem], directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.status == 0 && result.text == "", "\(result.text) \(result.errors)")
    }

    /// A job file that copies `in/*.wav`.
    private let copies =
        "version: 1\njobs: { copy: { asset: 'in/*.wav', tracks: [ { audio: all, copy: true } ], destination: 'out/${asset.stem}.wav' } }"

    /// A folder with `a.wav`, outside of the watched one, and a job file that copies the files of a pattern.
    private func folder(copying pattern: String = "in/*.wav") throws -> Scratch {
        let scratch = try Scratch()
        try ffmpeg("-f", "lavfi", "-i", "sine=d=1", scratch.file("a.wav"))
        try scratch.write(copies.replacingOccurrences(of: "in/*.wav", with: pattern), to: "jobs.yaml")
        return scratch
    }

    /// The folder doesn't exist at first. A file is taken when its writer has closed it, and each file once.
    @Test func filesAreTakenWhenTheyAreComplete() throws {
        let scratch = try folder()
        try run(
            """
            start("--events", "events", "-v")
            expect("the pattern `in/*.wav` matches no file")
            expect("watching for files")
            os.makedirs("in")
            data = open("a.wav", "rb").read()
            slow = open("in/slow.wav", "wb")
            slow.write(data[:9999]); slow.flush()
            expect("copy[slow.wav]: waiting for")
            shutil.copy("a.wav", "in/fast.wav")
            expect("done copy[fast.wav]")
            expect("1 of 1 jobs done")
            if os.path.exists("out/slow.wav"): print("taken too early")
            slow.write(data[9999:]); slow.close()
            expect("done copy[slow.wav]")
            expect("1 of 1 jobs done")
            os.rename("in/fast.wav", "in/renamed.wav")
            expect("done copy[renamed.wav]")
            expect("1 of 1 jobs done")
            if end() != 0: print("status", watch.returncode, lines)
            if open("out/slow.wav", "rb").read()[-9999:] != data[-9999:]: print("incomplete output")
            events = [json.loads(line) for line in open("events")]
            if [e["event"] for e in events].count("run_started") != 3: print("events", events)
            """, in: scratch)
        #expect(
            Set(scratch.contents)
                == [
                    "a.wav", "events", "in", "in/renamed.wav", "in/slow.wav", "jobs.yaml", "out",
                    "out/fast.wav",
                    "out/renamed.wav", "out/slow.wav",
                ])
    }

    /// A damaged file fails its job once; reports list the failure until the file changes.
    @Test func failedJobsAreTriedAgainAfterAChange() throws {
        let scratch = try folder()
        try run(
            """
            os.makedirs("in")
            open("in/bad.wav", "w").write("text")
            shutil.copy("a.wav", "in/good.wav")
            start("--report", "r.json")
            expect("watching for files")
            expect("1 of 2 jobs done")
            # The report is written after the line.
            def expectOutcomes(**wanted):
                wanted = {f"copy[{name}.wav]": outcome for name, outcome in wanted.items()}
                found = None
                while found != wanted:
                    try: found = {j["id"]: j["outcome"] for j in json.load(open("r.json"))["jobs"]}
                    except (FileNotFoundError, json.JSONDecodeError): pass
            expectOutcomes(bad="failed", good="succeeded")
            shutil.copy("a.wav", "in/new.wav")
            expect("1 of 1 jobs done")
            expectOutcomes(bad="failed", good="up-to-date", new="succeeded")
            shutil.copy("a.wav", "in/another.wav")
            expect("1 of 1 jobs done")
            expectOutcomes(bad="failed", good="up-to-date", new="up-to-date", another="succeeded")
            if json.load(open("r.json"))["status"] != "failed": print("report isn't failed")
            shutil.copy("a.wav", "in/bad.wav")
            expect("1 of 1 jobs done")
            expectOutcomes(bad="succeeded", good="up-to-date", new="up-to-date", another="up-to-date")
            if end(signal.SIGINT) != 0: print("status", watch.returncode)
            """, in: scratch)
    }

    /// A file that collides with another one fails alone, and is tried again when the other one is gone.
    @Test func collidingFilesDoNotStopOthers() throws {
        let scratch = try folder(copying: "in/*.{wav,WAV}")
        try run(
            """
            os.makedirs("in")
            shutil.copy("a.wav", "in/a.wav")
            start("--junit", "j.xml")
            expect("1 of 1 jobs done")
            shutil.copy("a.wav", "in/a.WAV")
            shutil.copy("a.wav", "in/b.wav")
            expect("two jobs have the destination")
            expect("done copy[b.wav]")
            shutil.copy("a.wav", "in/c.wav")
            expect("done copy[c.wav]")
            os.remove("in/a.wav")
            expect("done copy[a.WAV]")
            expect("1 of 1 jobs done")
            if end() != 0: print("status", watch.returncode)
            """, in: scratch)
        #expect(try String(contentsOfFile: scratch.file("j.xml"), encoding: .utf8).contains("failures=\"0\""))
    }

    /// The source of a job that waits, or of one that isn't selected, isn't overwritten by another job.
    @Test func sourcesOfOtherJobsAreKept() throws {
        let scratch = try folder()
        try scratch.write(
            """
            version: 1
            jobs:
              a: { asset: in/a.wav, tracks: [ { audio: all, copy: true } ], destination: out/a.wav }
              b:
                asset: 'b/*.wav'
                tracks: [ { audio: all, copy: true } ]
                destination: { path: 'in/${asset.stem}.wav', if_exists: replace }
            """, to: "jobs.yaml")
        try run(
            """
            os.makedirs("in"); os.makedirs("b")
            upload = open("in/a.wav", "wb")
            upload.write(b"begin"); upload.flush()
            shutil.copy("a.wav", "b/a.wav")
            start()
            expect("the destination is also a source, which is never overwritten")
            shutil.copy("a.wav", "b/other.wav")
            expect("done b[other.wav]")
            expect("1 of 1 jobs done")
            if end() != 0: print("status", watch.returncode)
            if open("in/a.wav", "rb").read() != b"begin": print("overwritten")
            """, in: scratch)
        let only = try tandem("run", "--only", "b", "jobs.yaml", in: scratch)
        #expect(
            only.status == 3 && only.errors.contains("the destination is also a source"), "\(only.errors)")
        #expect(try String(contentsOfFile: scratch.file("in/a.wav"), encoding: .utf8) == "begin")
    }

    /// An output that another job reads by its path is replaced by its own job: a file, also without its mark, and a folder.
    @Test func outputsThatOtherJobsReadAreReplaced() throws {
        let scratch = try Scratch()
        try write(
            job("a", to: "mid.mp4")
                + "  b: { asset: mid.mp4, tracks: [ { video: first, copy: true } ], destination: b.mp4 }\n"
                + "  pack: { asset: \(testSignal), outputs: { hd: { tracks: [ { video: first, encode: { codec: h264, preset: ultrafast } } ] } }, package: { formats: [hls], destination: pkg } }\n"
                + "  film: { asset: { playlist: pkg/master.m3u8 }, tracks: [ { video: first, copy: true } ], destination: film.mp4 }\n",
            in: scratch)
        for name in ["a", "pack"] {
            for _ in 0..<2 {
                let result = try tandem("run", "--force", "--only", name, "jobs.yaml", in: scratch)
                #expect(result.status == 0, "\(result.errors)")
            }
        }
        let unmark = "import os\nfor n in os.listxattr('mid.mp4'): os.removexattr('mid.mp4', n)"
        #expect(try program("python3", ["-c", unmark], directory: scratch.path).status == 0)
        let unmarked = try tandem("run", "--force", "--only", "a", "jobs.yaml", in: scratch)
        #expect(unmarked.status == 0, "\(unmarked.errors)")
        try scratch.write("another file", to: "mid.mp4")
        try write(
            job("a", to: "{ path: mid.mp4, if_exists: replace }")
                + "  b: { asset: mid.mp4, tracks: [ { video: first, copy: true } ], destination: b.mp4 }\n",
            in: scratch)
        try FileManager.default.removeItem(atPath: scratch.file(".tandem"))
        let foreign = try tandem("run", "--only", "a", "jobs.yaml", in: scratch)
        #expect(
            foreign.status == 3 && foreign.errors.contains("the destination is also a source"),
            "\(foreign.errors)")
    }

    /// Files that appear, or change, while the state is locked by another run are taken when they are complete.
    @Test func filesThatChangeBeforeABatchAreExaminedAgain() throws {
        let scratch = try folder()
        try run(
            """
            import fcntl
            os.makedirs("in")
            shutil.copy("a.wav", "in/first.wav")
            start()
            expect("done copy[first.wav]")
            expect("1 of 1 jobs done")
            lock = subprocess.Popen([sys.argv[1], "run", "--force", "slow.yaml"], stderr=subprocess.PIPE, text=True)
            for line in lock.stderr:
                if "slow: started" in line: break
            shutil.copy("a.wav", "in/second.wav")
            expect("waiting for the state folder")
            data = open("a.wav", "rb").read()
            slow = [open(f"in/{name}.wav", "wb") for name in ["second", "third"]]
            for file in slow: file.write(data[:9999]); file.flush()
            lock.kill(); lock.wait()
            shutil.copy("a.wav", "in/fourth.wav")
            expect("done copy[fourth.wav]")
            for file in slow: file.write(data[9999:]); file.close()
            while not (os.path.exists("out/second.wav") and os.path.exists("out/third.wav")): expect("jobs done")
            if end() != 0: print("status", watch.returncode)
            if any("fail" in line for line in lines): print(lines)
            """, in: scratch, more: ["slow.yaml": "version: 1\njobs:\n" + job("slow", asset: endlessSignal)])
        #expect(scratch.contents.contains("out/second.wav") && scratch.contents.contains("out/third.wav"))
    }

    /// A signal ends the watch while files are examined, and before a batch has started.
    @Test func signalsEndTheWatchAtOnce() throws {
        let scratch = try folder()
        try run(
            """
            import time
            os.makedirs("in")
            for n in range(3000): os.link("a.wav", f"in/{n}.wav")
            for number in range(8):
                start()
                expect("watching for files")
                for n in range(number): os.link("a.wav", f"in/{number}-{n}.wav")
                begun = time.monotonic()
                # Thousands of jobs take longer.
                if end() not in (0, 143) or time.monotonic() - begun > 20: print("status", watch.returncode)
            """, in: scratch)
        let outputs = scratch.contents.count { $0.hasPrefix("out/") }
        #expect(outputs < 3000)
    }

    /// Outputs per track, whose names are known once the source is complete, don't replace those of other files.
    @Test func outputsPerTrackOfOtherFilesAreKept() throws {
        let scratch = try folder()
        try scratch.write(
            copies.replacingOccurrences(of: "*.wav", with: "*").replacingOccurrences(
                of: "${asset.stem}.wav", with: "${asset.stem}.${track.index}.wav"), to: "jobs.yaml")
        try ffmpeg("-f", "lavfi", "-i", "sine=d=2", "-c:a", "pcm_s16le", scratch.file("b.mka"))
        try run(
            """
            os.makedirs("in")
            shutil.copy("a.wav", "in/a.wav")
            start()
            expect("1 of 1 jobs done")
            first = open("out/a.0.wav", "rb").read()
            shutil.copy("b.mka", "in/a.mka")
            expect("two jobs have the destination")
            shutil.copy("b.mka", "in/b.mka")
            expect("1 of 1 jobs done")
            if end() != 0: print("status", watch.returncode)
            if open("out/a.0.wav", "rb").read() != first: print("replaced")
            """, in: scratch)
        #expect(scratch.contents.contains("out/b.0.wav"))
    }

    /// The files of an album share a gain: each is taken with all others.
    @Test func groupsAreTakenAsAWhole() throws {
        let scratch = try folder()
        try scratch.write(
            copies.replacingOccurrences(
                of: "{ audio: all, copy: true }",
                with: "{ audio: all, encode: { codec: flac, normalize: { group: job } } }"
            ).replacingOccurrences(of: "}.wav'", with: "}.flac'"), to: "jobs.yaml")
        try run(
            """
            os.makedirs("in")
            data = open("a.wav", "rb").read()
            shutil.copy("a.wav", "in/a.wav")
            slow = open("in/b.wav", "wb")
            slow.write(data[:9999]); slow.flush()
            start("-v")
            expect("copy[a.wav]: waiting for")
            slow.write(data[9999:]); slow.close()
            expect("2 of 2 jobs done")
            shutil.copy("a.wav", "in/c.wav")
            expect("3 of 3 jobs done")
            if end() != 0: print("status", watch.returncode)
            """, in: scratch)
    }

    /// Jobs with complementary conditions may have the same destination, since all but one are skipped.
    @Test func skippedJobsOwnNoDestination() throws {
        let scratch = try folder()
        func job(_ id: String, _ bounds: String) -> String {
            "  \(id): { asset: 'in/*', when: { duration: { \(bounds) } }, tracks: [ { audio: all, copy: true } ], destination: 'out/${asset.stem}.wav' }\n"
        }
        try write(job("short", "max: 10s") + job("long", "min: 10.001s"), in: scratch)
        try run(
            """
            os.makedirs("in")
            shutil.copy("a.wav", "in/a.wav")
            start("--report", "r.json")
            expect("2 of 2 jobs done")
            shutil.copy("a.wav", "in/a.mka")
            expect("two jobs have the destination")
            shutil.copy("a.wav", "in/b.wav")
            expect("2 of 2 jobs done")
            if end() != 0: print("status", watch.returncode)
            outcomes = {j["id"]: j["outcome"] for j in json.load(open("r.json"))["jobs"]}
            if outcomes["short[a.mka]"] != "failed" or outcomes["short[b.wav]"] != "succeeded": print(outcomes)
            """, in: scratch)
    }

    /// A repeated error is printed again after it was solved.
    @Test func errorsThatRecurAreReported() throws {
        let scratch = try folder(copying: "in/*.{wav,WAV}")
        try run(
            """
            os.makedirs("in")
            shutil.copy("a.wav", "in/a.wav")
            start("--report", "r.json")
            expect("1 of 1 jobs done")
            for _ in range(2):
                shutil.copy("a.wav", "in/a.WAV")
                expect("two jobs have the destination")
                found = None
                while found != "failed":
                    jobs = json.load(open("r.json"))["jobs"]
                    found = next((j["outcome"] for j in jobs if j["id"] == "copy[a.WAV]"), None)
                os.remove("in/a.WAV")
                shutil.copy("a.wav", "in/a.wav")
                expect("1 of 1 jobs done")
            if end() != 0: print("status", watch.returncode)
            """, in: scratch)
    }

    /// The state can't be used for some time.
    @Test func watchGoesOnAfterAProblemOfTheMachine() throws {
        let scratch = try folder()
        try run(
            """
            os.makedirs("in"); os.makedirs("reports")
            shutil.copy("a.wav", "in/a.wav")
            start("--report", "reports/r.json")
            expect("1 of 1 jobs done")
            while not os.path.exists("reports/r.json"): pass
            shutil.rmtree("reports")
            shutil.copy("a.wav", "in/b.wav")
            expect("trying again every 30 seconds")
            os.makedirs("reports")
            shutil.copy("a.wav", "in/c.wav")
            while not (os.path.exists("out/b.wav") and os.path.exists("out/c.wav")): expect("jobs done")
            if end() != 0: print("status", watch.returncode)
            """, in: scratch)
    }

    /// A changed job file is loaded again; one with errors runs nothing until it is corrected.
    @Test func jobFilesAreLoadedAgain() throws {
        let scratch = try folder()
        try run(
            """
            os.makedirs("in")
            shutil.copy("a.wav", "in/a.wav")
            good = open("jobs.yaml").read()
            start()
            expect("1 of 1 jobs done")
            open("jobs.yaml", "w").write(good.replace("destination", "destinatoin"))
            expect("the job files have changed")
            expect("a job has no key `destinatoin`")
            shutil.copy("a.wav", "in/b.wav")
            os.remove("jobs.yaml")
            expect("can't read the job file")
            open("new.yaml", "w").write(good.replace("out/", "other/"))
            os.rename("new.yaml", "jobs.yaml")
            expect("the job files are valid again")
            expect("2 of 2 jobs done")
            if end() != 0: print("status", watch.returncode)
            """, in: scratch)
        #expect(scratch.contents.contains("other/b.wav") && !scratch.contents.contains("out/b.wav"))
    }

    @Test func errorsAtTheStartEndTheWatch() throws {
        let scratch = try folder()
        try scratch.write(copies.replacingOccurrences(of: "tracks", with: "trakcs"), to: "wrong.yaml")
        let wrong = try tandem("watch", "wrong.yaml", in: scratch)
        #expect(wrong.status == 3 && wrong.errors.contains("a job has no key `trakcs`"), "\(wrong.errors)")
        let missing = try tandem("watch", "missing.yaml", in: scratch)
        #expect(missing.status == 3, "\(missing.status) \(missing.errors)")
        let none = try tandem("watch", in: scratch)
        #expect(none.status == 64 && none.errors.contains("no job file given"), "\(none.errors)")
        for time in ["0", "1m", "2h", "-1"] {
            let settle = try tandem("watch", "--settle=\(time)", "jobs.yaml", in: scratch)
            #expect(
                settle.status == 64
                    && settle.errors.contains(
                        "--settle must be a time from 0.1 to 3600 seconds, such as 5s or 1:00"),
                "\(settle.errors)")
        }
        // An encoder that rejects its settings is found without a file.
        try scratch.write(
            copies.replacingOccurrences(
                of: "{ audio: all, copy: true }",
                with: "{ audio: all, encode: { codec: flac, options: { no_such: 1 } } }"),
            to: "jobs.yaml")
        let encoder = try tandem("watch", "jobs.yaml", in: scratch)
        #expect(encoder.status == 3 && encoder.errors.contains("no_such"), "\(encoder.errors)")
    }

    /// Signals while a job runs have the effects that they have on a run.
    @Test(arguments: [("TERM", 143), ("INT", 130)])
    func signalsEndABatchAsARun(_ signal: (name: String, status: Int)) throws {
        let scratch = try Scratch()
        try write(
            job("endless", asset: endlessSignal, to: "one.mp4")
                + job("next", more: "needs: endless", to: "two.mp4"), in: scratch)
        try run(
            """
            start()
            expect("endless: started")
            if "\(signal.name)" == "INT":
                watch.send_signal(signal.SIGINT)
                expect("interrupted: running jobs finish")
            if end(signal.SIG\(signal.name)) != \(signal.status): print("status", watch.returncode, lines)
            """, in: scratch)
        #expect(scratch.contents == ["jobs.yaml"])
    }
}
