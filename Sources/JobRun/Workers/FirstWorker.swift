internal import Glibc
internal import Locking

/// The first worker of a call, started before anything else: it loads FFmpeg's libraries, which takes longer
/// than a short job, while job files are read in this process.
package enum FirstWorker {
    private static let waiting = Guarded<WorkerProcess.Ends?>(nil)

    /// Starts the worker if the first word of the command line is one of `commands`. Must be called first in `main`.
    /// If it fails, a worker is started when it is needed, and reports the reason.
    package static func start(for commands: Set<String>) {
        guard let word = CommandLine.arguments.dropFirst().first, commands.contains(word),
            let ends = try? WorkerProcess.spawn()
        else { return }
        waiting.withLock { $0 = ends }
        // An unused worker must be ended before the process exits.
        atexit { FirstWorker.release() }
    }

    /// Takes the worker, once. A worker that isn't taken ends with this process.
    static func take() -> WorkerProcess.Ends? { waiting.withLock { $0.take() } }

    /// Ends the worker if it was not taken.
    package static func release() {
        guard let ends = take() else { return }
        kill(ends.process, SIGKILL)
        close(ends.channel)
        close(ends.words)
        waitpid(ends.process, nil, 0)
    }
}
