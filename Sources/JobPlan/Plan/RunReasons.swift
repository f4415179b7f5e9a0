/// The reasons why a job would run.
package struct RunReasons: Sendable {
    /// Reasons, a line each; empty if the output is up to date.
    package var lines: [String]
    /// Whether the existing output is kept, and only its new expectations are evaluated.
    package var onlyEvaluates: Bool

    package init(lines: [String], onlyEvaluates: Bool = false) {
        (self.lines, self.onlyEvaluates) = (lines, onlyEvaluates)
    }
}
