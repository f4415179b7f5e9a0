internal import ArgumentParser
internal import Diagnostics

/// What the exit status means; the first that applies wins.
extension ExitCode {
    /// A job failed or was refused.
    static let jobFailed = ExitCode(1)
    /// The job files are wrong.
    static let specWrong = ExitCode(3)
    /// This machine can't: an encoder is missing.
    static let environment = ExitCode(4)
    /// Nothing worse than an output that is not what `expect` says.
    static let expectationFailed = ExitCode(5)
    /// SIGINT.
    static let interrupted = ExitCode(130)
    /// SIGTERM.
    static let terminated = ExitCode(143)

    /// The status of a check.
    static func forDiagnostics(_ sink: DiagnosticSink) -> ExitCode? {
        guard sink.hasErrors else { return nil }
        return sink.hasOnlyEnvironmentErrors ? .environment : .specWrong
    }
}
