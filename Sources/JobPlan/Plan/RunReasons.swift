/// Why a job would run.
public struct RunReasons: Sendable {
    /// A line each; empty where its output is up to date.
    public var lines: [String]
    /// The output that is there stays as it is: only what is newly expected of it is judged.
    public var onlyJudges: Bool

    /// Makes them.
    public init(lines: [String], onlyJudges: Bool = false) {
        (self.lines, self.onlyJudges) = (lines, onlyJudges)
    }
}
