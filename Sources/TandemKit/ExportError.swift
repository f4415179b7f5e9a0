public import Diagnostics
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

    /// The first message.
    public var description: String { diagnostics.first?.message ?? "it failed" }
}
