/// The reasons why a job would run.
package struct RunReasons: Sendable {
    /// Reasons, a line each; empty if the output is up to date.
    package var lines: [String]
    /// Whether the existing output is kept, and only its new expectations are evaluated.
    package var onlyEvaluates: Bool
    /// Reason why the output isn't created although it isn't up to date; nil for any other output.
    package var omission: Omission?
    /// Bit rates or values of `crf` that were tried for an output that is up to date, a line for each key that requires a
    /// search.
    package var search: [String] = []

    /// A reason why a run doesn't create an output.
    package enum Omission: Hashable, Sendable {
        /// An earlier run created the output, and didn't publish it (`publish_if`).
        case declined(String)
        /// The job is skipped, because of a condition or because its source has no output.
        case skipped(String)

        /// The state of the output in one word.
        package var word: String {
            switch self {
            case .declined: "declined"
            case .skipped: "skipped"
            }
        }

        package var reason: String {
            switch self {
            case .declined(let reason), .skipped(let reason): reason
            }
        }
    }

    package init(lines: [String], onlyEvaluates: Bool = false, omission: Omission? = nil) {
        (self.lines, self.onlyEvaluates, self.omission) = (lines, onlyEvaluates, omission)
    }
}
