package import JobRun

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

    /// The status in reports and in the state.
    package var reportStatus: RunReport.Status {
        switch self {
        case .succeeded: .succeeded
        case .interrupted, .terminated: .interrupted
        case .jobFailed, .invalidSpec, .environment, .expectationFailed, .usage: .failed
        }
    }
}

/// An error of a command without a location in a job file.
package struct EngineError: Error, Sendable, CustomStringConvertible {
    package let status: RunStatus
    /// Message, without a final period. May contain untrusted names, whose control characters must be escaped for
    /// output.
    package let message: String

    package init(_ status: RunStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    package var description: String { message }
}
