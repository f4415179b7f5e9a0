internal import CLinux
internal import Glibc
internal import Locking

/// The first worker of a call: this process's twin, forked before it has any thread. FFmpeg's libraries, which take longer
/// to load than a short job takes, are in it already. Further workers are started as programs of their own.
public enum WorkerTwin {
    /// A worker's process, and this end of its channel and of its standard error.
    struct Ends: Sendable {
        var process: pid_t
        var channel: Int32
        var words: Int32
    }

    private static let waiting = Guarded<Ends?>(nil)

    /// Makes it, where the command line's first word is one of `commands`. First thing in `main`. True in the twin, whose
    /// life is `WorkerMain.run`.
    public static func fork(for commands: [String]) -> Bool {
        let texts = commands.map { strdup($0) }
        defer { for text in texts { free(text) } }
        var (channel, words): (Int32, Int32) = (-1, -1)
        let process = (texts.map { UnsafePointer($0) } + [nil]).withUnsafeBufferPointer {
            tandem_fork_twin($0.baseAddress, &channel, &words)
        }
        if process > 0 {
            waiting.withLock { $0 = Ends(process: process, channel: channel, words: words) }
            // One that nobody needed leaves nothing for others to clean up.
            atexit { WorkerTwin.release() }
        }
        return process == 0
    }

    /// Takes it, once. Where nobody does, it ends with this process.
    static func take() -> Ends? { waiting.withLock { $0.take() } }

    /// Lets it go, where nobody took it and nobody will.
    public static func release() {
        guard let ends = take() else { return }
        kill(ends.process, SIGKILL)
        close(ends.channel)
        close(ends.words)
        waitpid(ends.process, nil, 0)
    }
}
