/// The result of a command, as its exit status, in order of precedence (`first(of:)`).
package enum RunStatus: Int32, CaseIterable, Sendable {
    /// The run was ended by SIGTERM or SIGHUP.
    case terminated = 143
    /// The run was interrupted by SIGINT.
    case interrupted = 130
    case usage = 64
    /// The job files are invalid.
    case invalidSpec = 3
    /// The environment is insufficient: an encoder is missing, or a folder isn't writable.
    case environment = 4
    /// A job failed, or could not be planned.
    case jobFailed = 1
    /// An output doesn't meet its expectations, and there is no other failure.
    case expectationFailed = 5
    /// All jobs succeeded, were up to date or were skipped.
    case succeeded = 0

    /// Returns the status of a command to which several apply; nil if none does.
    package static func first(of statuses: [RunStatus]) -> RunStatus? {
        allCases.first(where: statuses.contains)
    }

    /// The meaning in a few words, for `--help`.
    package var summary: String {
        switch self {
        case .interrupted: "interrupted"
        case .terminated: "terminated"
        case .usage: "usage error"
        case .invalidSpec: "error in a job file"
        case .environment: "problem of the machine"
        case .jobFailed: "a job failed"
        case .expectationFailed: "only expectations failed"
        case .succeeded: "success"
        }
    }

    /// The meaning as described in the reference.
    package var meaning: String {
        switch self {
        case .interrupted, .terminated, .expectationFailed: summary
        case .usage: "wrong usage"
        case .invalidSpec:
            "the job files have errors, and no job was started. `validate`: errors of the files by themselves. `plan`: also errors that depend on the sources (missing source, no such track, range beyond the end, existing destination, collision, an expectation that can't be met). `run`: the errors of `validate`, collisions, and a destination that is a source"
        case .environment:
            "a problem of the machine: a missing encoder, state that can't be written, a required sandbox that is not available"
        case .jobFailed:
            "a job failed or was rejected (source missing or damaged, destination exists, an expectation that can't be met, no space, timeout, crash); the other jobs ran"
        case .succeeded: "success, also with warnings unless `--warnings-as-errors` is given"
        }
    }

    /// The statuses and their summaries, in order of their numbers, as one line.
    package static var listing: String {
        allCases.sorted { $0.rawValue < $1.rawValue }.map { "\($0.rawValue) \($0.summary)" }.joined(
            separator: "; ")
    }

    /// The statuses and their meanings, in order of precedence (`ReferenceGenerator.reference`).
    package static var reference: [(status: Int32, meaning: String)] {
        allCases.map { ($0.rawValue, $0.meaning) }
    }
}
