public import Diagnostics

/// A job that can't be planned against its real source.
public struct PlanningError: Error, Sendable, CustomStringConvertible {
    /// Why.
    public var diagnostics: [Diagnostic]
    /// The first reason.
    public var description: String {
        diagnostics.first.map { "\($0.range): \($0.message)" } ?? "the job is gone"
    }
}
