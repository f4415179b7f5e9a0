import Foundation
import TestSupport
import Testing

/// Tests workers that crash, hang or violate the protocol, and their sandbox.
@Suite struct WorkerTests {
    /// G7: any failure of a worker fails only its job, with the reason.
    @Test(arguments: [
        ("abort", "signal 6 (Aborted); its last output: injected fault: abort"),
        ("hang", "exceeded its timeout of 2 s"),
        ("memory", "of memory; the limit is 300 MiB"), ("invalidMessage", "it sent an invalid message"),
        ("impossibleReport", "it sent an impossible report of its output"),
        ("unsolicitedDescriptors", "it sent unsolicited file descriptors"),
        ("foreignFile", "it requested a file that doesn't belong to its source"),
    ])
    func failedWorkersFailOneJob(_ fault: String, _ words: String) throws {
        let scratch = try Scratch()
        // Only the job of the hanging worker has a timeout: on a busy machine, a timeout could precede the memory
        // limit.
        let bad = job("bad", more: fault == "hang" ? "timeout: 2" : "")
        try write(bad + (1...4).map { job("good\($0)") }.joined(), in: scratch)
        let result = try tandem(
            "run", "--worker-memory", "300MiB", "jobs.yaml", in: scratch,
            environment: ["TANDEM_WORKER_FAULTS": "bad:\(fault)"])
        #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.contains("4 of 5 jobs done, 1 not"), "\(result.errors)")
        #expect(scratch.contents.filter { $0.hasSuffix(".mp4") } == (1...4).map { "out/good\($0).mp4" })
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            rerun.status == 0 && rerun.errors.contains("5 of 5 jobs done, 4 of them up to date"),
            "\(rerun.errors)")
    }

    /// If a worker is killed once while it probes a source, the probe is repeated in another worker.
    @Test func probesAreRetriedOnce() throws {
        let scratch = try folderWithSource()
        try write(job("a", asset: "./a.mp4"), in: scratch)
        let run = try tandem(
            "run", "jobs.yaml", in: scratch, environment: ["TANDEM_WORKER_FAULTS": "a.mp4:abort"])
        #expect(run.status == 0 && scratch.contents.contains("out/a.mp4"), "\(run.errors)")
    }

    /// A source whose probe fails repeatedly is an error of that source's job, in `plan` and in `run`.
    @Test(arguments: [
        ("abort", "signal 6 (Aborted); its last output: injected fault: abort"),
        ("stall", "it made no progress for "), ("memory", "of memory; the limit is 300 MiB"),
        ("invalidMessage", "it sent an invalid message"),
        ("impossibleReport", "it sent an impossible report of a source"),
    ])
    func sourcesThatCrashTheirWorkerFailOneJob(_ fault: String, _ words: String) throws {
        let scratch = try folderWithSource()
        try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("b.mp4"))
        try FileManager.default.copyItem(atPath: scratch.file("a.mp4"), toPath: scratch.file("c.mp4"))
        try write(
            ["a", "b", "c"].map { job($0, asset: "./\($0).mp4") }.joined() + job("of-b", asset: "{ job: b }"),
            in: scratch)
        let faults = ["TANDEM_WORKER_FAULTS": "b.mp4:\(fault),b.mp4:\(fault)"]
        let plan = try tandem(
            "plan", "--worker-memory", "300MiB", "jobs.yaml", in: scratch, environment: faults)
        let message = "b.mp4: the worker that probed it died: "
        #expect(plan.status == 3 && plan.errors.contains(message), "\(plan.errors)")
        #expect(plan.errors.contains(words), "\(plan.errors)")
        let run = try tandem(
            "run", "--worker-memory", "300MiB", "jobs.yaml", in: scratch, environment: faults)
        #expect(
            run.status == 1 && run.errors.contains(message) && run.errors.contains(words), "\(run.errors)")
        #expect(
            scratch.contents.filter { $0.hasPrefix("out/") } == ["out/a.mp4", "out/c.mp4"], "\(run.errors)")
        let rerun = try tandem("run", "jobs.yaml", in: scratch)
        #expect(
            rerun.status == 0 && rerun.errors.contains("4 of 4 jobs done, 2 of them up to date"),
            "\(rerun.errors)")
    }

    /// The supervisor detects the exit of a worker directly after its first message. Many workers are used, because
    /// message and exit rarely coincide.
    @Test func exitsRightAfterAMessageAreReported() throws {
        let scratch = try folderWithSource()
        let names = (0..<60).map { "d\($0)" }
        for name in names {
            try FileManager.default.copyItem(
                atPath: scratch.file("a.mp4"), toPath: scratch.file("\(name).mp4"))
        }
        try write(names.map { job($0, asset: "./\($0).mp4") }.joined(), in: scratch)
        let faults = names.map { "\($0).mp4:abort,\($0).mp4:abort" }.joined(separator: ",")
        let plan = try tandem("plan", "jobs.yaml", in: scratch, environment: ["TANDEM_WORKER_FAULTS": faults])
        #expect(plan.status == 3)
        #expect(plan.errors.components(separatedBy: "signal 6 (Aborted)").count == 61, "\(plan.errors)")
    }

    /// A hanging probe of another job's output doesn't prevent cancellation.
    @Test func hangingProbesAreCancelled() throws {
        let scratch = try folderWithSource()
        try write(job("mid", asset: "./a.mp4") + job("end", asset: "{ job: mid }"), in: scratch)
        let script = """
            "$0" run jobs.yaml 2>log & pid=$!
            until grep -q 'done mid' log; do kill -0 $pid || { cat log; exit 99; }; done
            kill -TERM $pid; wait $pid; echo $?
            """
        let run = try program(
            "timeout", ["40", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["TANDEM_WORKER_FAULTS": "mid.mp4:hang"])
        #expect(run.status == 0 && run.text == "143\n", "\(run.status) \(run.text)")
        #expect(scratch.contents.filter { $0.hasPrefix("out/") } == ["out/mid.mp4"])
    }

    /// The output doesn't depend on earlier jobs of the worker, although x264 reads uninitialized memory.
    @Test func outputsDontDependOnEarlierJobsOfTheWorker() throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=s=320x180:d=3:r=25", "-c:v", "libx264", scratch.file("a.mp4"))
        let medium = "codec: h264, preset: medium, crf: 23"
        try write(
            (1...8).map { job("j\($0)", asset: "./a.mp4", video: medium, more: "threads: 1") }.joined(),
            in: scratch)
        let run = try tandem("run", "--jobs", "2", "jobs.yaml", in: scratch)
        #expect(run.status == 0, "\(run.errors)")
        let outputs = try (1...8).map { try Data(contentsOf: URL(filePath: scratch.file("out/j\($0).mp4"))) }
        #expect(Set(outputs).count == 1)
    }

    /// `plan` writes no files and requires no temporary folder.
    @Test func planRequiresNoTemporaryFolder() throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        let plan = try tandem("plan", "jobs.yaml", in: scratch, environment: ["TMPDIR": "/nonexistent"])
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(scratch.contents == ["a.mp4", "jobs.yaml"])
    }

    @Test func stalledWorkersFailOneJob() throws {
        let scratch = try Scratch()
        try write(job("bad") + job("good"), in: scratch)
        let run = try tandem(
            "run", "jobs.yaml", in: scratch, environment: ["TANDEM_WORKER_FAULTS": "bad:stall"])
        #expect(run.status == 1 && run.errors.contains("it made no progress for "), "\(run.errors)")
        #expect(scratch.contents.filter { $0.hasPrefix("out/") } == ["out/good.mp4"])
    }

    /// A killed worker is a transient failure and is retried; damaged data is not.
    @Test func transientFailuresAreRetried() throws {
        let scratch = try Scratch()
        try write(job("one", more: "retries: 1"), in: scratch)
        let result = try tandem(
            "run", "--events", "events", "jobs.yaml", in: scratch,
            environment: ["TANDEM_WORKER_FAULTS": "one:abort"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try String(contentsOfFile: scratch.file("events"), encoding: .utf8).contains("\"attempts\":2"))
    }

    /// Workers have no privileges, an empty environment, and no inherited descriptors.
    @Test func workersAreSandboxed() throws {
        let scratch = try Scratch()
        try write(
            job("one", asset: endlessSignal) + job("two", asset: endlessSignal), in: scratch)
        let script = """
            exec 7<jobs.yaml
            SECRET=x "$0" run --require-sandbox --jobs 2 jobs.yaml 2>log & pid=$!
            until grep -q 'two: started' log; do kill -0 $pid || { cat log; exit 99; }; done
            locked() { cat $(pgrep -P $pid | sed 's|.*|/proc/&/status|') | grep -c 'NoNewPrivs:.1'; }
            until [ "$(locked)" = 2 ]; do kill -0 $pid || { cat log; exit 99; }; done
            for worker in $(pgrep -P $pid); do
                grep NoNewPrivs /proc/$worker/status; tr '\\0' '\\n' < /proc/$worker/environ | sort
                tr '\\0' ' ' < /proc/$worker/cmdline; echo
                ls -l /proc/$worker/fd | grep -c jobs.yaml
            done
            kill -9 $pid; for i in $(seq 1200); do kill -0 $worker 2>/dev/null || { echo gone; break; }; sleep 0.05; done
            """
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        if result.text.contains("this machine lacks") {
            // Verifies by `landlock_create_ruleset`, which returns the ABI version, that the kernel doesn't support
            // Landlock.
            let answer = try program(
                "python3", ["-c", "import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))"])
            #expect(answer.text == "-1\n", "refused, although the kernel supports Landlock: \(result.text)")
            return
        }
        let worker = [
            "NoNewPrivs:\t1", "LC_ALL=C", "SVT_LOG=1", "SWIFT_BACKTRACE=enable=no", "tandem worker", "0",
        ]
        #expect(
            result.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                == worker + worker + ["gone"],
            "\(result.text) \(result.errors)")
        #expect(scratch.contents == ["jobs.yaml", "log", "out"])
    }

    /// Without support for Landlock, the run works and reports the missing part; with `--require-sandbox` it is
    /// rejected.
    @Test(arguments: ["ENOSYS", "EOPNOTSUPP", "EPERM"]) func missingSandboxFeaturesAreReported(
        _ error: String
    ) throws {
        let scratch = try folderWithSource()
        try write(job("one", asset: "./a.mp4"), in: scratch)
        func run(_ options: String...) throws -> ProgramResult {
            try program(
                "strace",
                [
                    "-f", "-o", "trace", "-e", "trace=landlock_create_ruleset", "-e",
                    "inject=landlock_create_ruleset:error=\(error)", TestPaths.tandem, "run",
                ] + options + ["jobs.yaml"], directory: scratch.path)
        }
        let lack = "Landlock for files, isolation from /proc"
        let refused = try run("--require-sandbox")
        #expect(
            refused.status == 4 && refused.errors.contains("this machine lacks: \(lack)"),
            "\(refused.errors)")
        #expect(scratch.contents.filter { $0.hasPrefix("out/") } == [])
        let done = try run()
        #expect(done.status == 0 && done.errors.contains("workers ran without \(lack)"), "\(done.errors)")
        #expect(scratch.contents.contains("out/one.mp4"))
    }

    /// Standard descriptors that the caller closed aren't reused: output for the terminal would be written to a
    /// worker's socket.
    @Test(arguments: ["2>&-", ">&-", "<&- >&- 2>&-"]) func closedStandardDescriptorsStayClosed(
        _ closed: String
    )
        throws
    {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        for _ in 0..<4 {
            let script = "\"$0\" run --force jobs.yaml --report report.json \(closed)"
            let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
            #expect(result.status == 0 && !result.text.contains("{"))
        }
    }

    /// The run reaps its first worker even if no job needs it, so a parent that is a subreaper gets no orphaned
    /// process.
    @Test func runsLeaveNoProcesses() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        let script = """
            import ctypes, os, subprocess, sys
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
            for words in [["run", "--help"], ["run"], ["run", "no.yaml"], ["plan", "jobs.yaml"],
                          ["run", "--isolation", "none", "jobs.yaml"], ["run", "jobs.yaml"]]:
                subprocess.run([sys.argv[1], *words], capture_output=True)
                try: print(words, os.waitpid(-1, os.WNOHANG))
                except ChildProcessError: pass
            """
        let result = try program("python3", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.text == "" && result.status == 0, "\(result.text) \(result.errors)")
    }

    /// Too low limits on threads and descriptors, with which Dispatch hangs or crashes, are errors. RLIMIT_NPROC
    /// doesn't apply to root, so the program runs as another user.
    @Test func tooLowLimitsAreErrors() throws {
        let scratch = try Scratch()
        try write(job("one"), in: scratch)
        let script = """
            import os, resource, subprocess, sys
            def fewer():
                if os.getuid() == 0:
                    os.setgroups([])
                    os.setgid(61234)
                    os.setuid(61234)
                resource.setrlimit(resource.RLIMIT_NPROC, (4, 4))
            program = os.open(sys.argv[1], os.O_RDONLY)
            print(subprocess.run([f"/proc/self/fd/{program}", "validate", "jobs.yaml"], preexec_fn=fewer,
                                 pass_fds=[program], stderr=subprocess.STDOUT, timeout=60).returncode)
            """
        let threads = try program("python3", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(threads.text.contains("which is less than 8 (`ulimit -u`"), "\(threads.text)")
        #expect(threads.text.hasSuffix("\n4\n"), "\(threads.text) \(threads.errors)")
        let words = ["--nofile=63", TestPaths.tandem]
        let files = try program("prlimit", words + ["run", "jobs.yaml"], directory: scratch.path)
        #expect(
            files.status == 4 && files.errors.contains("the limit on open files is less than 64"),
            "\(files.errors)")
        let script3 = "exec prlimit --nofile=63 \"$0\" worker 3<>/dev/null"
        let worker = try program("/bin/bash", ["-c", script3, TestPaths.tandem], directory: scratch.path)
        #expect(
            worker.status == 1 && worker.errors.contains("the limit on open files is less than 64"),
            "\(worker.errors)")
    }

    /// The sandbox allows all files that workers open. Without /dev/urandom, libavutil takes about 30 ms for each
    /// random number, of which a Matroska file needs one.
    @Test func sandboxDeniesNothingThatJobsNeed() throws {
        let scratch = try folderWithSource()
        // libavfilter and its dependencies are loaded after entering the sandbox.
        let small = jobFile(video: "codec: h264, preset: ultrafast, size: x48", destination: "out.mkv")
        try scratch.write(small, to: "jobs.yaml")
        let run = try program(
            "strace",
            ["-f", "-o", "trace", "-e", "trace=open,openat,openat2", TestPaths.tandem, "run", "jobs.yaml"],
            directory: scratch.path)
        #expect(run.status == 0, "\(run.errors)")
        let trace = try String(contentsOfFile: scratch.file("trace"), encoding: .utf8).split(separator: "\n")
        #expect(trace.contains { $0.contains("/dev/urandom\", O_RDONLY)") && !$0.contains("= -1") })
        #expect(trace.contains { $0.contains("libavfilter.so") && !$0.contains("= -1") })
        #expect(trace.filter { $0.contains("EACCES") || $0.contains("EPERM") } == [])
    }
}
