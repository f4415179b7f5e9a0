public import Diagnostics
internal import Engine
public import Errors
internal import JobRun

/// Error of an export that failed, or of a job file that can't be run.
public struct ExportError: TandemError {
    /// All diagnostics, errors first.
    public let diagnostics: [Diagnostic]
    /// The kind of the first error.
    public let kind: ErrorKind

    init(_ found: [Diagnostic], kind: ErrorKind? = nil) {
        diagnostics = found.filter { $0.severity == .error } + found.filter { $0.severity != .error }
        self.kind = kind ?? diagnostics.first?.rule.errorKind ?? .failed
    }

    init(_ failure: JobFailure) {
        self.init(
            failure.diagnostics.map { Diagnostic(.error, $0.rule, $0.message, at: $0.location) },
            kind: failure.kind)
    }

    init(_ kind: ErrorKind, _ message: String) {
        self.init([Diagnostic(.error, .jobFailed, message, at: .argument("export"))], kind: kind)
    }

    /// Calls a stage of the pipeline, and throws its rejection as an `ExportError`.
    static func converting<Stage>(
        _ stage: () throws(Pipeline.Rejection) -> Stage
    ) throws(ExportError) -> Stage {
        do throws(Pipeline.Rejection) { return try stage() } catch {
            throw ExportError(error.diagnostics.diagnostics)
        }
    }

    /// Returns the error with the kind of another one, which has the same cause and a more specific kind.
    func with(kind: ErrorKind) -> ExportError { ExportError(diagnostics, kind: kind) }

    /// The message of the first diagnostic.
    public var description: String { diagnostics.first?.message ?? "the export failed" }
}
