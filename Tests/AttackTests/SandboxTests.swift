import Foundation
import TestSupport
import Testing

/// What a worker that was taken over by a media file can still do, tried from inside one: `tandem doctor` does it.
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
        let words = [Places.tandem, "doctor", "--format", "json"] + arguments
        let result: ProgramResult
        if asUser, getuid() == 0 {
            // The program is open already: its folder may be closed to others.
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
            throw JudgeError(message: "\(result.status) \(result.text) \(result.errors)")
        }
    }

    /// Without a sandbox nearly all of it works: so the attempts can tell.
    @Test func theAttemptsWorkWhereNothingStandsAgainstThem() throws {
        let (report, status) = try doctor(["--no-sandbox"])
        #expect(status == 4)
        // Another user, a container or a kernel may stand against a few.
        #expect(report.open.count >= report.attempts.count / 2, "\(report.open)")
        for attempt in [
            "send by UDP", "connect by TCP", "connect to a Unix socket by its path",
            "connect to an abstract Unix socket", "send the supervisor a signal",
            "read the supervisor's environment", "start a process", "execute a program",
            "read a file that it was not given", "gain privileges by a program",
        ] {
            #expect(report.open.contains(attempt))
        }
    }

    /// As whoever runs the tests, and as nobody in particular.
    @Test(arguments: [false, true]) func nothingGetsOut(_ asUser: Bool) throws {
        let (report, status) = try doctor(asUser: asUser)
        #expect(report.attempts.count > 50)
        // A kernel without Landlock leaves files open, and says so; everything else stands without it.
        if report.landlock == 0 {
            #expect(status == 4 && report.lacking == ["Landlock for files", "isolation from /proc"])
            let offFiles = ["file", "folder", "link", "pipe", "terminal", "/proc", "supervisor's"]
            #expect(report.open.allSatisfy { name in offFiles.contains { name.contains($0) } })
        } else {
            #expect(status == 0 && report.lacking == [], "\(report.lacking)")
            #expect(report.open == [])
        }
    }

    /// One that fetches by URL can connect, and that is all.
    @Test func aFetchCanConnectAndNoMore() throws {
        let (report, status) = try doctor(["--allow-network"])
        #expect(Set(report.open).isSubset(of: ["connect by TCP", "send by UDP"]) || report.landlock == 0)
        #expect(status == 0 || report.landlock == 0)
    }

    /// Each part that can't be had is named, and who requires the sandbox is refused.
    @Test(arguments: [
        ("seccomp,prctl", "seccomp", ["seccomp:error=ENOSYS", "prctl:error=EINVAL"]),
        ("landlock_restrict_self", "Landlock for files", ["landlock_restrict_self:error=EPERM"]),
        ("setresuid,setuid", "a separate user", ["setresuid:error=EPERM"]),
    ]) func whatIsLackingIsNamed(_ calls: String, _ words: String, _ faults: [String]) throws {
        if words == "a separate user", getuid() != 0 { return }
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, preset: ultrafast"), to: "jobs.yaml")
        let injections = faults.flatMap { ["-e", "inject=\($0)"] }
        let result = try program(
            "strace",
            ["-f", "-o", scratch.file("trace"), "-e", "trace=\(calls)"] + injections
                + [Places.tandem, "run", "--require-sandbox", "jobs.yaml"], directory: scratch.path)
        #expect(result.status == 4 && result.errors.contains("this machine lacks: "), "\(result.errors)")
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!scratch.contents.contains("out.mkv"))
    }

    /// libdispatch looks at its threads by /proc, of which a worker sees its own alone: it ends the process where it may
    /// not look at all.
    @Test func dispatchLivesWithAClosedProc() throws {
        let scratch = try folderWithSource()
        try scratch.write(jobFile(video: "codec: h264, preset: ultrafast"), to: "jobs.yaml")
        let result = try program(
            "strace",
            ["-f", "-o", scratch.file("trace"), "-e", "trace=openat", Places.tandem, "run", "jobs.yaml"],
            directory: scratch.path, environment: ["TANDEM_WORKER_FAULTS": "one:crowd"])
        #expect(result.status == 0, "\(result.errors)")
        let trace = try String(contentsOfFile: scratch.file("trace"), encoding: .utf8)
        let looks = trace.split(separator: "\n").filter { $0.contains("/stat\"") }
        #expect(!looks.isEmpty, "Dispatch did not look at its threads")
        #expect(looks.allSatisfy { !$0.contains("= -1") }, "\(looks.prefix(5))")
    }
}
