internal import Glibc
internal import Locking

/// The first worker of a call, started before anything else: it loads FFmpeg's libraries, which takes longer
/// than a short job, while job files are read in this process.
package enum FirstWorker {
    private static let idleWorker = Guarded<WorkerProcess.Endpoints?>(nil)

    /// Starts the worker if the first word of the command line is one of `commands`. Must be called first in `main`.
    /// If it fails, a worker is started when it is needed, and reports the reason.
    package static func start(for commands: Set<String>) {
        guard let word = CommandLine.arguments.dropFirst().first, commands.contains(word),
            let endpoints = try? WorkerProcess.spawn()
        else { return }
        idleWorker.withLock { $0 = endpoints }
        // An unused worker must be ended before the process exits.
        atexit { FirstWorker.release() }
    }

    /// Takes the worker, once. A worker that isn't taken ends with this process.
    static func take() -> WorkerProcess.Endpoints? { idleWorker.withLock { $0.take() } }

    /// Ends the worker if it was not taken.
    package static func release() {
        guard let endpoints = take() else { return }
        kill(endpoints.process, SIGKILL)
        close(endpoints.channel)
        close(endpoints.errorOutput)
        waitpid(endpoints.process, nil, 0)
    }
}
