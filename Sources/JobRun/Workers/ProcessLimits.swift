internal import CLinux
internal import Glibc

/// What a process of this program needs of the system before it begins, where having less means to hang or to crash.
package enum ProcessLimits {
    /// Threads beside the first: those of Dispatch's queues and the fewest of a codec. With fewer, Dispatch tries again
    /// for ever, deaf to signals (measured: `validate` hangs with 3, and works with 5).
    private static let threads: Int32 = 8
    /// Descriptors. A worker has its line, a source and an output open, Dispatch and Landlock some of their own.
    private static let descriptors: Int32 = 64

    /// Takes as many open files as the process may have: an output of thousands of stills is published in one go.
    package static func raiseOpenFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// What there is too little of, for people; nil where there is enough.
    package static func lack() -> String? {
        let last = fcntl(STDERR_FILENO, F_DUPFD, descriptors - 1)
        guard last >= 0 else {
            return "this process may have fewer than \(descriptors) open files (`ulimit -n`)"
        }
        close(last)
        let got = tandem_try_threads(threads)
        guard got == threads else {
            return """
                this process may have no more than \(got) threads, and needs \(threads) \
                (`ulimit -u`, or the group's `pids.max`)
                """
        }
        return nil
    }
}
