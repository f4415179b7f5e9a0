/// Result of a command, as its exit status. Where several apply, the command returns the first that occurred.
package enum RunStatus: Int32, Sendable {
    /// All jobs were carried out, or were up to date.
    case succeeded = 0
    /// A job failed or was refused.
    case jobFailed = 1
    /// The job files are wrong.
    case specWrong = 3
    /// The machine lacks something: an encoder, a folder that can be written.
    case environment = 4
    /// An output doesn't meet `expect`, and nothing worse occurred.
    case expectationFailed = 5
    /// The command line is wrong.
    case usage = 64
    /// SIGINT ended the run.
    case interrupted = 130
    /// SIGTERM or SIGHUP ended the run.
    case terminated = 143

    /// The word for it in reports and in the state.
    package var word: String {
        switch self {
        case .succeeded: "succeeded"
        case .interrupted, .terminated: "interrupted"
        case .jobFailed, .specWrong, .environment, .expectationFailed, .usage: "failed"
        }
    }
}

/// An error that concerns a command as a whole, and no line of a job file.
package struct EngineError: Error, Sendable, CustomStringConvertible {
    /// The exit status.
    package let status: RunStatus
    /// A sentence without a full stop. Names from outside in it need escaping of control characters when it is printed.
    package let message: String

    /// Creates an error.
    package init(_ status: RunStatus, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The message.
    package var description: String { message }
}
