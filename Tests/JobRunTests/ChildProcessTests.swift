import Glibc
import Testing

@testable import JobRun

/// The end of a worker's process.
@Suite struct ChildProcessTests {
    private func spawn(_ script: String) throws -> pid_t {
        var id: pid_t = 0
        let words = ["/bin/sh", "-c", script]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawn(&id, words[0], nil, nil, arguments, environ) == 0)
        return id
    }

    @Test(arguments: [
        ("exit 3", "it exited with status 3"), ("kill -KILL $$", "signal 9 (Killed)"),
        // One that doesn't exit is killed.
        ("exec sleep 60", "signal 9 (Killed)"),
    ])
    func reap_describesTheExit(_ script: String, _ description: String) throws {
        var process = ChildProcess(try spawn(script))
        #expect(process.reap() == description)
        #expect(process.reap() == "", "only once")
    }

    @Test func killedProcess_isReaped() throws {
        let id = try spawn("exec sleep 60")
        var process = ChildProcess(id)
        #expect(try #require(process.residentMemory) > 0)
        process.kill()
        #expect(process.reap(isKilled: true) == "signal 9 (Killed)")
        #expect(kill(id, 0) == -1, "nothing is left of the process")
    }
}
