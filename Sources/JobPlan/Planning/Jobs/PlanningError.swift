package import Diagnostics

/// A job that can't be planned against its real source.
package struct PlanningError: Error, Sendable, CustomStringConvertible {
    /// Why.
    package var diagnostics: [Diagnostic]
    /// The first reason.
    package var description: String {
        diagnostics.first.map { "\($0.range): \($0.message)" } ?? "the job is gone"
    }
}
