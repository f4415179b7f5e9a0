public import Diagnostics
public import Errors
internal import JobStages
internal import PlanWork

/// Error of job files that can't be planned.
public struct JobFileError: TandemError {
    /// All diagnostics with their locations, errors first.
    public let diagnostics: [Diagnostic]
    /// The kind of the first error.
    public let kind: ErrorKind

    init(_ found: [Diagnostic]) {
        diagnostics = found.filter { $0.severity == .error } + found.filter { $0.severity != .error }
        kind = diagnostics.first?.rule.errorKind ?? .failed
    }

    /// Calls a stage of the pipeline, and throws its rejection as a `JobFileError`.
    static func converting<Stage>(
        _ stage: () throws(Pipeline.Rejection) -> Stage
    ) throws(JobFileError) -> Stage {
        do throws(Pipeline.Rejection) { return try stage() } catch {
            throw JobFileError(error.diagnostics.diagnostics)
        }
    }

    /// The message of the first diagnostic.
    public var description: String { diagnostics.first?.message ?? "the job files can't be planned" }
}
