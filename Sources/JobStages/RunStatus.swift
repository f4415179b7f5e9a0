/// The result of a command, as its exit status. If several apply, the first that occurred is returned.
package enum RunStatus: Int32, Sendable {
    /// All jobs succeeded, were up to date or were skipped.
    case succeeded = 0
    /// A job failed, or could not be planned.
    case jobFailed = 1
    /// The job files are invalid.
    case invalidSpec = 3
    /// The environment is insufficient: an encoder is missing, or a folder isn't writable.
    case environment = 4
    /// An output doesn't meet its expectations, and there is no other failure.
    case expectationFailed = 5
    case usage = 64
    /// The run was interrupted by SIGINT.
    case interrupted = 130
    /// The run was ended by SIGTERM or SIGHUP.
    case terminated = 143
}
