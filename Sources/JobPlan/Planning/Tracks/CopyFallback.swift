internal import Diagnostics
internal import JobSpec

/// The encoding in place of a copy that isn't possible.
struct CopyFallback {
    let action: TrackRule.Action
    let why: String

    /// Creates the fallback after the errors of a copy; nil if the job has none. `smart` requires that the middle is
    /// copied: `encode` applies only to the edges. With `smart-or-exact` it applies to the rest as well.
    init?(_ otherwise: TrackRule.Action?, after errors: DiagnosticSink, cut: CutMode) {
        let problem = errors.diagnostics.first
        guard let otherwise, !(cut == .smart && problem?.rule == .copyRange) else { return nil }
        (action, why) = (otherwise, problem?.message ?? "it can't be copied")
    }
}
