public import Diagnostics
internal import Engine
internal import JobRun

/// Why something was not exported, or a job file can't be carried out.
public struct ExportError: Error, Sendable, CustomStringConvertible {
    /// What was found, the first error first.
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

    /// Calls a stage of the pipeline, and throws its rejection as an export error.
    static func converting<Stage>(
        _ stage: () throws(Pipeline.Rejection) -> Stage
    ) throws(ExportError) -> Stage {
        do throws(Pipeline.Rejection) { return try stage() } catch {
            throw ExportError(error.diagnostics.diagnostics)
        }
    }

    /// The first message.
    public var description: String { diagnostics.first?.message ?? "it failed" }
}
