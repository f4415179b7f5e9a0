/// The result of a command, as its exit status. If several apply, the command returns the first that
/// occurred.
package enum RunStatus: Int32, Sendable {
    /// All jobs were carried out, or were up to date.
    case succeeded = 0
    /// A job failed or was refused.
    case jobFailed = 1
    /// The job files are invalid.
    case invalidSpec = 3
    /// The environment is insufficient, such as a missing encoder or a folder that isn't writable.
    case environment = 4
    /// An output doesn't meet `expect`, and there is no other failure.
    case expectationFailed = 5
    /// The command line is invalid.
    case usage = 64
    /// SIGINT ended the run.
    case interrupted = 130
    /// SIGTERM or SIGHUP ended the run.
    case terminated = 143

    /// Word for the status in reports and in the state.
    package var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .interrupted, .terminated: "interrupted"
        case .jobFailed, .invalidSpec, .environment, .expectationFailed, .usage: "failed"
        }
    }
}

/// An error of a command as a whole, without a location in a job file.
package struct EngineError: Error, Sendable, CustomStringConvertible {
    package let status: RunStatus
    /// Message: a sentence without a period. May contain untrusted names, whose control characters must be
    /// escaped when it is printed.
    package let message: String

    package init(_ status: RunStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    package var description: String { message }
}
