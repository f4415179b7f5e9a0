import Foundation
import TestSupport
import Testing

/// Tests the guarantees on outputs (G1, G2) with strace, which makes system calls fail or kills the program in them.
@Suite struct GuaranteeTests {
    /// Runs the program under strace, which counts system calls per thread.
    private func traced(_ options: [String], in scratch: Scratch) throws -> ProgramResult {
        try program(
            "strace",
            ["-f", "-qq", "-o", scratch.file("trace")] + options + [TestPaths.tandem, "run", "jobs.yaml"],
            directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    private func isWhole(_ path: String, frames: Int = 25) throws -> Bool {
        let ffmpegFile = FFmpegFile(path)
        return try ffmpegFile.decodeErrors() == "" && ffmpegFile.frames().times.count == frames
    }

    @Test func rerunsReplaceTheirOwnOutput() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(), to: "jobs.yaml")
        for _ in 0..<2 { #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0) }
        #expect(try isWhole(scratch.file("out.mp4")))
        #expect(scratch.contents == ["a.mp4", "jobs.yaml", "out.mp4"])
    }

    @Test func existingFilesAreReplacedOrSkippedAsDeclared() throws {
        let scratch = try folderWithSource()
        try scratch.write("theirs", to: "out.mp4")
        try scratch.write(jobFile(destination: "{ path: out.mp4, if_exists: skip }"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(FileManager.default.contents(atPath: scratch.file("out.mp4")) == Data("theirs".utf8))
        try scratch.write(jobFile(destination: "{ path: out.mp4, if_exists: replace }"), to: "jobs.yaml")
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try isWhole(scratch.file("out.mp4")))
    }

    /// G1: if the run is killed in a system call that writes or publishes, the destination is the old file or the
    /// complete new one.
    @Test(arguments: [
        "pwrite64:1", "pwrite64:3", "fsync:1", "fsync:2", "fsetxattr:1", "linkat:1", "renameat2:1",
    ])
    func killsLeaveTheOldOrTheNewFile(_ call: String) throws {
        let parts = call.split(separator: ":")
        let scratch = try folderWithSource()
        try scratch.write("old", to: "out.mp4")
        try scratch.write(
            jobFile(
                destination: "{ path: out.mp4, if_exists: replace }", more: "    optimize_for_network: true"),
            to: "jobs.yaml")
        let result = try traced(["-e", "inject=\(parts[0]):signal=SIGKILL:when=\(parts[1])"], in: scratch)
        // On file systems without unnamed files, the temporary file is renamed, without `linkat`.
        let isReached = parts[0] != "linkat" || scratch.hasUnnamedFiles
        #expect(
            isReached ? result.status == 128 + 9 || result.status == 9 : result.status == 0,
            "\(call) was never reached: \(result.status) \(result.errors)")
        let now = FileManager.default.contents(atPath: scratch.file("out.mp4"))
        #expect(try now == Data("old".utf8) || isWhole(scratch.file("out.mp4")))
        // The next run removes the temporary files of the killed one.
        #expect(try tandem("run", "jobs.yaml", in: scratch).status == 0)
        #expect(try isWhole(scratch.file("out.mp4")))
        #expect(scratch.contents == ["a.mp4", "jobs.yaml", "out.mp4", "trace"])
    }

    /// G1: data is synced before the file gets its name, and the folder before the run reports success.
    @Test func dataIsSyncedBeforePublishingAndTheFolderAfter() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(), to: "jobs.yaml")
        #expect(try traced(["-y", "-e", "trace=pwrite64,fsync,linkat,renameat2"], in: scratch).status == 0)
        let lines = try String(contentsOfFile: scratch.file("trace"), encoding: .utf8).split(separator: "\n")
            .filter { !$0.contains("/.tandem/") }
        func last(_ call: String) -> Int { lines.lastIndex { $0.contains(call + "(") } ?? -1 }
        let (write, publish) = (last("pwrite64"), last("linkat"))
        let syncs = lines.indices.filter { lines[$0].contains("fsync(") }
        #expect(write >= 0 && publish > write)
        #expect(syncs.contains { $0 > write && $0 < publish })
        #expect(syncs.contains { $0 > publish })
    }

    /// G2: on a disk that is too small for one output, the smaller output is published.
    @Test(arguments: ["worker", "none"]) func fullDisksFailOnlyTheOutputThatDoesntFit(_ isolation: String)
        throws
    {
        let scratch = try folderWithSource()
        let noise = "{ pattern: testsrc, size: 640x360, duration: 20s }"
        try write(
            job(
                "large", asset: noise, video: "codec: h264, qp: 1, preset: ultrafast",
                to: "small-disk/large.mp4")
                + job("quick", more: "priority: -1", to: "small-disk/quick.mp4"), in: scratch)
        try FileManager.default.createDirectory(
            atPath: scratch.file("small-disk"), withIntermediateDirectories: false)
        let script = """
            mount -t tmpfs -o size=2m none small-disk || exit 77
            "$0" run --isolation \(isolation) --jobs 1 jobs.yaml; status=$?
            ls -A small-disk; "$0" run --isolation \(isolation) jobs.yaml; ls -A small-disk; exit $status
            """
        let run = try program(
            "unshare", ["-rm", "/bin/bash", "-c", script, TestPaths.tandem], directory: scratch.path)
        // Machines without user namespaces can't mount tmpfs.
        if run.status == 77 || run.errors.hasPrefix("unshare:") { return print("measured: no tmpfs here") }
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.text == "quick.mp4\nquick.mp4\n", "\(run.text)")
        #expect(run.errors.components(separatedBy: "No space left on device").count >= 3, "\(run.errors)")
        #expect(run.errors.contains("1 of 2 jobs done, 1 of them up to date, 1 not"), "\(run.errors)")
    }

    /// G2: every failing write fails the job, and no file is left.
    @Test(arguments: ["ENOSPC", "EIO"]) func everyFailingWriteFailsTheJob(_ error: String) throws {
        let scratch = try folderWithSource()
        // The output requires more writes of 256 KB per thread than the state, which exists after the first run.
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25:duration=2,noise=alls=60:allf=t", "-c:v",
            "ffv1", scratch.file("noise.mkv"))
        try scratch.write(
            jobFile(
                asset: "./noise.mkv", video: "codec: h264, qp: 8, preset: ultrafast",
                more: "    optimize_for_network: true"), to: "jobs.yaml")
        #expect(try traced([], in: scratch).status == 0)
        var failures = 0
        for write in 1...128 {
            try? FileManager.default.removeItem(atPath: scratch.file("out.mp4"))
            let result = try traced(["-e", "inject=pwrite64:error=\(error):when=\(write)"], in: scratch)
            let trace = try String(contentsOfFile: scratch.file("trace"), encoding: .utf8)
            guard trace.contains("(INJECTED)") else {
                #expect(result.status == 0)
                break
            }
            // Failing writes of the state before the first job end the run; after it, they are warnings.
            let isOfState = result.errors.contains("the state in")
            #expect(isOfState || result.status == 1, "write \(write): \(result.errors)")
            let exists = FileManager.default.fileExists(atPath: scratch.file("out.mp4"))
            #expect(exists == (result.status == 0), "write \(write)")
            if exists { #expect(try isWhole(scratch.file("out.mp4"), frames: 50)) }
            if result.status == 1 { failures += 1 }
            #expect(write < 128)
        }
        #expect(failures >= 3)
        #expect(try isWhole(scratch.file("out.mp4"), frames: 50))
    }

    /// G2: failures of other system calls between the last write and success fail the job.
    @Test(arguments: ["fsync:1", "fsync:2", "linkat:1"]) func failingSyncAndLinkFailTheJob(_ call: String)
        throws
    {
        let parts = call.split(separator: ":")
        let scratch = try folderWithSource()
        try scratch.write(jobFile(), to: "jobs.yaml")
        let result = try traced(["-e", "inject=\(parts[0]):error=EIO:when=\(parts[1])"], in: scratch)
        #expect(result.status == 1, "\(result.errors)")
        #expect(scratch.contents.allSatisfy { !$0.hasSuffix(".part") })
    }

    /// A write beyond RLIMIT_FSIZE fails like a write to a full disk.
    @Test func fileSizeLimitsFailTheJob() throws {
        let scratch = try folderWithSource()
        try scratch.write(
            jobFile(
                asset: "{ pattern: testsrc, size: 640x360, duration: 4s }", video: "codec: ffv1",
                destination: "out.mkv"), to: "jobs.yaml")
        let result = try program(
            "/bin/bash", ["-c", "ulimit -f 200; exec \"$0\" run jobs.yaml", TestPaths.tandem],
            directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.status == 1, "\(result.errors)")
        #expect(result.errors.contains("File too large"), "\(result.errors)")
        #expect(scratch.contents == ["a.mp4", "jobs.yaml"])
    }

    /// SIGTERM and the second SIGINT cancel immediately; after the first SIGINT, running jobs finish. No files are
    /// left.
    @Test(
        arguments: [("TERM", 1, 143), ("INT", 2, 130)],
        ["codec: h264", "codec: h264, quality: { ssim: 0.9 }", "codec: h264, burn: { asset: captions.srt }"])
    func signalsLeaveNoFiles(_ signal: (name: String, count: Int, status: Int32), _ video: String) throws {
        let (name, count, status) = signal
        let scratch = try Scratch()
        try scratch.write(
            (0..<9999).map { "\($0 + 1)\n00:00:00,000 --> 09:59:59,000\nline \($0)\n" }.joined(
                separator: "\n"),
            to: "captions.srt")
        // Small frames, whose estimated size fits on the small disks of Tests/Torture/filesystems.
        try scratch.write(
            jobFile(
                asset: "{ pattern: testsrc, size: 320x180, duration: 36000s }", video: video,
                destination: "out.mp4",
                more:
                    "  two: { asset: { pattern: smpte, size: 320x180, duration: 36000s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: two.mp4 }"
            ),
            to: "jobs.yaml")
        let script = """
            "$0" run --jobs 1 jobs.yaml 2>log & pid=$!
            until grep -q 'one: started' log 2>/dev/null; do kill -0 $pid || exit 99; done
            kill -\(name) $pid
            if [ \(count) = 2 ]; then
                until grep -q interrupted log; do kill -0 $pid || exit 99; done
                kill -\(name) $pid
            fi
            wait $pid
            """
        let begun = Date()
        let result = try program(
            "/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path,
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        #expect(result.status == status, "\(result.errors)")
        #expect(Date().timeIntervalSince(begun) < 60)
        #expect(scratch.contents.sorted() == ["captions.srt", "jobs.yaml", "log"])
    }

    /// Signals immediately after the start end the run, on a busy machine and with the signal blocked by the parent
    /// process.
    @Test func signalsRightAfterTheStartEndTheRun() throws {
        let scratch = try Scratch()
        try scratch.write(
            jobFile(
                asset: "{ pattern: testsrc, size: 320x180, duration: 36000s }", video: "codec: h264",
                destination: "out.mp4"), to: "jobs.yaml")
        let script = """
            import signal, subprocess, sys
            # They exit without a signal, even if this script is killed.
            spin = "import time; end = time.time() + 300\\nwhile time.time() < end: pass"
            busy = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(4)]
            block = lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
            try:
                for n in range(20):
                    p = subprocess.Popen([sys.argv[1], "run", "jobs.yaml"], stderr=subprocess.PIPE,
                                         preexec_fn=block if n % 2 else None)
                    line = b"-"
                    while line and b"one: started" not in line: line = p.stderr.readline()
                    p.terminate()
                    try: p.communicate(timeout=30)
                    except subprocess.TimeoutExpired: p.kill()
                    if p.returncode != 143: print(n, p.returncode)
            finally:
                for p in busy: p.kill()
            """
        let result = try program("python3", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.text == "" && result.status == 0, "\(result.text) \(result.errors)")
        #expect(scratch.contents == ["jobs.yaml"])
    }

    @Test func firstInterruptFinishesRunningJobs() throws {
        let scratch = try Scratch()
        try scratch.write(
            jobFile(
                asset: "{ pattern: testsrc, size: 1280x720, duration: 4s }", destination: "out.mp4",
                more:
                    "  two: { asset: { pattern: smpte, duration: 4s }, tracks: [ { video: first, encode: { codec: h264 } } ], destination: two.mp4 }"
            ),
            to: "jobs.yaml")
        let script = """
            "$0" run --jobs 1 jobs.yaml 2>log & pid=$!
            until grep -q 'one: started' log 2>/dev/null; do kill -0 $pid || exit 99; done
            kill -INT $pid
            wait $pid
            """
        let result = try program("/bin/bash", ["-c", script, TestPaths.tandem], directory: scratch.path)
        #expect(result.status == 130, "\(result.errors)")
        #expect(scratch.contents == ["jobs.yaml", "log", "out.mp4"])
        #expect(try FFmpegFile(scratch.file("out.mp4")).decodeErrors() == "")
    }

    /// A source that contains less than its index states is an error.
    @Test(arguments: [30, 50, 70, 90, 99]) func truncatedSourcesAreFailures(_ percent: Int) throws {
        let scratch = try Scratch()
        try ffmpeg(
            "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=4", "-f", "lavfi", "-i",
            "sine=duration=4", "-c:v", "libx264", "-c:a", "aac",
            "-movflags", "+faststart", scratch.file("whole.mp4"))
        let whole = try #require(FileManager.default.contents(atPath: scratch.file("whole.mp4")))
        try whole.prefix(whole.count * percent / 100).write(to: URL(fileURLWithPath: scratch.file("a.mp4")))
        try scratch.write(jobFile(), to: "jobs.yaml")
        let result = try tandem("run", "jobs.yaml", in: scratch)
        #expect(result.status == 1, "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.file("out.mp4")))
    }
}
