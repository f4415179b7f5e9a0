public import Diagnostics
internal import Engine
internal import JobRun

/// Error of an export that failed, or of a job file that can't be run.
public struct ExportError: Error, Sendable, CustomStringConvertible {
    /// All diagnostics, errors first.
    public let diagnostics: [Diagnostic]

    init(_ found: [Diagnostic]) {
        diagnostics = found.filter { $0.severity == .error } + found.filter { $0.severity != .error }
    }

    init(_ failure: JobFailure) {
        self.init(
            failure.diagnostics.map { Diagnostic(.error, $0.rule, $0.message, at: $0.location) })
    }

    init(_ message: String) {
        self.init([Diagnostic(.error, .jobFailed, message, at: .argument("export"))])
    }

    /// Calls a stage of the pipeline, and throws its rejection as an `ExportError`.
    static func converting<Stage>(
        _ stage: () throws(Pipeline.Rejection) -> Stage
    ) throws(ExportError) -> Stage {
        do throws(Pipeline.Rejection) { return try stage() } catch {
            throw ExportError(error.diagnostics.diagnostics)
        }
    }

    /// The message of the first diagnostic.
    public var description: String { diagnostics.first?.message ?? "the export failed" }
}
