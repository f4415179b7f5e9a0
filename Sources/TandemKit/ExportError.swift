internal import Diagnostics
public import Errors
internal import JobStages
internal import PlanWork

/// Error of an export, of an assistant or of a still image.
public struct ExportError: TandemError {
    /// The kind of the error. If there are several errors, that of the first.
    public let kind: ErrorKind
    /// Messages of all errors, the most important first; not empty.
    public let messages: [String]

    init(_ found: [Diagnostic], kind: ErrorKind? = nil) {
        let errors = found.filter { $0.severity == .error }
        self.kind = kind ?? errors.first?.rule.errorKind ?? .failed
        messages = errors.isEmpty ? ["the export failed"] : errors.map(\.message)
    }

    init(_ failure: JobFailure) {
        (kind, messages) = (failure.kind, [failure.message])
    }

    init(_ kind: ErrorKind, _ message: String) {
        (self.kind, messages) = (kind, [message])
    }

    private init(_ kind: ErrorKind, _ messages: [String]) {
        (self.kind, self.messages) = (kind, messages)
    }

    /// Calls a stage of planning, and throws its rejection as an `ExportError`.
    static func converting<Stage>(
        _ stage: () throws(Pipeline.Rejection) -> Stage
    ) throws(ExportError) -> Stage {
        do throws(Pipeline.Rejection) { return try stage() } catch {
            throw ExportError(error.diagnostics.diagnostics)
        }
    }

    /// Returns the error with the kind of another one, which has the same cause and a more specific kind.
    func with(kind: ErrorKind) -> ExportError { ExportError(kind, messages) }

    /// The first message.
    public var description: String { messages.first ?? "the export failed" }
}
