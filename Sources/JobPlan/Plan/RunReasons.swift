/// Why a job would run.
package struct RunReasons: Sendable {
    /// A line each; empty where its output is up to date.
    package var lines: [String]
    /// The output that is there stays as it is: only what is newly expected of it is judged.
    package var onlyJudges: Bool

    /// Makes them.
    package init(lines: [String], onlyJudges: Bool = false) {
        (self.lines, self.onlyJudges) = (lines, onlyJudges)
    }
}
