/// The reasons why a job would run.
package struct RunReasons: Sendable {
    /// Reasons, a line each; empty if the output is up to date.
    package var lines: [String]
    /// Whether the existing output is kept, and only its new expectations are evaluated.
    package var onlyEvaluates: Bool
    /// Reason why an earlier run declined the output, which isn't created again; nil for any other output.
    package var declined: String?

    package init(lines: [String], onlyEvaluates: Bool = false, declined: String? = nil) {
        (self.lines, self.onlyEvaluates, self.declined) = (lines, onlyEvaluates, declined)
    }
}
