internal import Glibc
internal import Locking

/// The first worker, started before job files are read. It loads FFmpeg's libraries, which takes longer than a short
/// job, while this process reads the job files.
package enum FirstWorker {
    private static let idleWorker = Guarded<WorkerEndpoints?>(nil)

    /// Starts the worker if the first argument is one of `commands`. Must be called first in `main`. A failure is
    /// ignored: a worker started later reports the reason.
    package static func start(for commands: Set<String>) {
        guard let word = CommandLine.arguments.dropFirst().first, commands.contains(word),
            let endpoints = try? WorkerEndpoints.spawn()
        else { return }
        idleWorker.withLock { $0 = endpoints }
        // The process of an unused worker must be ended before this process exits.
        atexit { FirstWorker.release() }
    }

    /// Returns the worker on the first call, and nil afterwards. The caller owns it; a worker that is not taken ends
    /// with this process.
    static func take() -> WorkerEndpoints? { idleWorker.withLock { $0.take() } }

    /// Ends the worker if it was not taken.
    package static func release() {
        guard let endpoints = take() else { return }
        kill(endpoints.process, SIGKILL)
        close(endpoints.channel)
        close(endpoints.errorOutput)
        waitpid(endpoints.process, nil, 0)
    }
}
