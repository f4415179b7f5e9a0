import Foundation
import TestSupport
import Testing

/// Tests that a worker's attempts to leave the sandbox are denied. `tandem doctor` executes the attempts.
@Suite struct SandboxTests {
    private struct Report: Decodable {
        struct Attempt: Decodable {
            var attempt: String
            var isClosed: Bool
        }
        var lacking: [String]
        var landlock: Int
        var attempts: [Attempt]

        var open: [String] { attempts.filter { !$0.isClosed }.map(\.attempt) }
    }

    private func doctor(_ arguments: [String] = [], asUser: Bool = false) throws -> (Report, Int32) {
        let scratch = try Scratch()
        let words = [TestPaths.tandem, "doctor", "--format", "json"] + arguments
        let result: ProgramResult
        if asUser, getuid() == 0 {
            // The program is opened first, because its folder may be inaccessible to other users.
            let script = """
                import os, sys
                program = os.open(sys.argv[1], os.O_RDONLY)
                os.setgroups([]); os.setgid(61234); os.setuid(61234); os.chdir("/")
                os.execve(program, ["tandem"] + sys.argv[2:], os.environ)
                """
            result = try program(
                "python3", ["-c", script] + words, directory: "/",
                environment: ["SWIFT_BACKTRACE": "enable=no"])
        } else {
            result = try program(words[0], Array(words.dropFirst()), directory: scratch.path)
        }
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            return (try decoder.decode(Report.self, from: result.output), result.status)
        } catch {
            throw ProgramError(message: "\(result.status) \(result.text) \(result.errors)")
        }
    }

    /// A machine on which no worker can be started is described too.
    @Test func missingTemporaryFolderIsReported() throws {
        let result = try program(
            TestPaths.tandem, ["doctor"],
            environment: ["TMPDIR": "/none/scratch", "SWIFT_BACKTRACE": "enable=no"])
        #expect(result.status == 4 && result.errors == "")
        #expect(result.text.contains("folder     /none/scratch for temporary files  MISSING\n"))
        #expect(
            result.text.contains("problem    the folder /none/scratch for temporary files doesn't exist\n"))
        #expect(
            result.text.hasSuffix(
                "sandbox    not tested: a folder for workers in /none/scratch can't be created: No such file or directory\n"
            ), "\(result.text)")
    }

    /// Tests that most attempts succeed without a sandbox, so that a denied attempt proves that the sandbox works.
    @Test func attemptsSucceedWithoutASandbox() throws {
        let (report, status) = try doctor(["--no-sandbox"])
        #expect(status == 4)
        // Permissions, a container or the kernel may deny a few attempts.
        #expect(report.open.count >= report.attempts.count / 2, "\(report.open)")
        for attempt in [
            "send by UDP", "connect by TCP", "connect to a Unix socket by its path",
            "connect to an abstract Unix socket", "send a signal to the supervisor",
            "read the supervisor's environment", "start a process", "execute a program",
            "read a file without a passed descriptor", "gain privileges by a program",
        ] {
            #expect(report.open.contains(attempt))
        }
    }

    /// Tests the attempts as the current user and as an unprivileged one.
    @Test(arguments: [false, true]) func attemptsFailInTheSandbox(_ asUser: Bool) throws {
        let (report, status) = try doctor(asUser: asUser)
        #expect(report.attempts.count > 50)
        // Without Landlock, which is reported, files are accessible; the other restrictions don't depend on it.
        if report.landlock == 0 {
            #expect(status == 4 && report.lacking == ["Landlock for files", "isolation from /proc"])
            let offFiles = ["file", "folder", "link", "pipe", "terminal", "/proc", "supervisor's"]
            #expect(report.open.allSatisfy { name in offFiles.contains { name.contains($0) } })
        } else {
            #expect(status == 0 && report.lacking == [], "\(report.lacking)")
            #expect(report.open == [])
        }
    }

    /// Tests that a worker that reads a URL can use the network but nothing else.
    @Test func networkWorkersCanOnlyConnect() throws {
        let (report, status) = try doctor(["--allow-network"])
        #expect(Set(report.open).isSubset(of: ["connect by TCP", "send by UDP"]) || report.landlock == 0)
        #expect(status == 0 || report.landlock == 0)
    }

    /// Tests that each missing part of the sandbox is reported, and that `--require-sandbox` fails.
    @Test(arguments: [
        ("seccomp,prctl", "seccomp", ["seccomp:error=ENOSYS", "prctl:error=EINVAL"]),
        ("landlock_restrict_self", "Landlock for files", ["landlock_restrict_self:error=EPERM"]),
        ("setresuid,setuid", "a separate user", ["setresuid:error=EPERM"]),
    ]) func missingPartsOfTheSandboxAreReported(_ calls: String, _ words: String, _ faults: [String]) throws {
        if words == "a separate user", getuid() != 0 { return }
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, preset: ultrafast"), to: "jobs.yaml")
        let injections = faults.flatMap { ["-e", "inject=\($0)"] }
        let result = try program(
            "strace",
            ["-f", "-o", scratch.file("trace"), "-e", "trace=\(calls)"] + injections
                + [TestPaths.tandem, "run", "--require-sandbox", "jobs.yaml"], directory: scratch.path)
        #expect(result.status == 4 && result.errors.contains("this machine lacks: "), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!scratch.contents.contains("out.mkv"))
    }

    /// Tests that Dispatch works in the sandbox: it inspects its threads in /proc, where a worker sees only its own
    /// process, and terminates the process without access.
    @Test func dispatchWorksWithARestrictedProc() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, preset: ultrafast"), to: "jobs.yaml")
        let result = try program(
            "strace",
            ["-f", "-o", scratch.file("trace"), "-e", "trace=openat", TestPaths.tandem, "run", "jobs.yaml"],
            directory: scratch.path, environment: ["TANDEM_WORKER_FAULTS": "one:busyThreads"])
        #expect(result.status == 0, "\(result.errors)")
        let trace = try String(contentsOfFile: scratch.file("trace"), encoding: .utf8)
        let accesses = trace.split(separator: "\n").filter { $0.contains("/stat\"") }
        #expect(!accesses.isEmpty, "Dispatch did not access the state of its threads")
        #expect(accesses.allSatisfy { !$0.contains("= -1") }, "\(accesses.prefix(5))")
    }
}
