package import Diagnostics

/// An error for a job that can't be planned against its source.
package struct PlanningError: Error, Sendable, CustomStringConvertible {
    package var diagnostics: [Diagnostic]
    /// The first reason.
    package var description: String {
        diagnostics.first.map { "\($0.range): \($0.message)" } ?? "the job no longer exists"
    }
}
