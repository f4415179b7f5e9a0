internal import CLinux
internal import Glibc

/// The limits on system resources that a process of this program requires at its start. Below them it would hang or
/// crash.
package enum ProcessLimits {
    /// Number of threads besides the main thread: those of Dispatch's queues and the minimum of a codec. With fewer,
    /// Dispatch retries forever and doesn't react to signals (measured: `validate` hangs with 3 threads, and works with
    /// 5).
    private static let threads: Int32 = 8
    /// Number of descriptors. A worker uses its channel, a source and an output; Dispatch and Landlock open further
    /// ones.
    private static let descriptors: Int32 = 64

    /// Raises the soft limit on open files, up to 65,536: the files of an image output are published together.
    package static func raiseOpenFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Returns the insufficient resource as a message for the user; nil if all are sufficient.
    package static func shortage() -> String? {
        let last = fcntl(STDERR_FILENO, F_DUPFD, descriptors - 1)
        guard last >= 0 else {
            return "the limit on open files is less than \(descriptors) (`ulimit -n`)"
        }
        close(last)
        let got = tandem_try_threads(threads)
        guard got == threads else {
            return """
                the limit on threads is \(got), which is less than \(threads) \
                (`ulimit -u`, or the group's `pids.max`)
                """
        }
        return nil
    }
}
