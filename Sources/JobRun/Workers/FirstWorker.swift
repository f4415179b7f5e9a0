internal import Glibc
internal import Locking

/// The first worker of a call, started as a program of its own before anything else is done: FFmpeg's libraries, which take
/// longer to load than a short job takes, are loaded there while job files are read here.
package enum FirstWorker {
    private static let waiting = Guarded<WorkerProcess.Ends?>(nil)

    /// Starts it, where the command line's first word is one of `commands`. First thing in `main`; where it can't be had, one is
    /// started when it is needed, and says why.
    package static func start(for commands: Set<String>) {
        guard let word = CommandLine.arguments.dropFirst().first, commands.contains(word),
            let ends = try? WorkerProcess.spawn()
        else { return }
        waiting.withLock { $0 = ends }
        // One that nobody needed leaves nothing for others to clean up.
        atexit { FirstWorker.release() }
    }

    /// Takes it, once. Where nobody does, it ends with this process.
    static func take() -> WorkerProcess.Ends? { waiting.withLock { $0.take() } }

    /// Lets it go, where nobody took it and nobody will.
    package static func release() {
        guard let ends = take() else { return }
        kill(ends.process, SIGKILL)
        close(ends.channel)
        close(ends.words)
        waitpid(ends.process, nil, 0)
    }
}
