internal import Diagnostics
internal import LibAV
internal import Media

extension PlanText {
    /// Describes how a check reads the source.
    static func summary(of check: CheckPlan) -> String {
        check.decodes
            ? "decodes video and audio, writes nothing" : "reads packets, writes nothing"
    }

    /// Returns the number of outputs and of checks, for the totals.
    static func count(of outputs: [OutputPlan]) -> String {
        let checks = outputs.count(where: \.isCheck)
        let written = counted(outputs.count - checks, "output")
        if checks == 0 { return written }
        return (checks < outputs.count ? written + ", " : "") + counted(checks, "check")
    }
}
