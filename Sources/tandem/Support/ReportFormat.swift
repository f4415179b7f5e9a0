internal import ArgumentParser
internal import Diagnostics
internal import Glibc
internal import JobPlan

/// In what form results are printed.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
    case sarif
    case github
}

/// What every command that checks takes.
struct ReportArguments: ParsableArguments {
    @Option(
        help:
            "How results are printed: text; json, sarif or github (annotations) on standard output. Without it text, and annotations as well under GitHub Actions."
    )
    var format: ReportFormat?

    @Flag(help: "Warnings are errors.")
    var warningsAsErrors = false

    /// What is printed is for programs alone.
    var isForPrograms: Bool { format.map { $0 != .text } ?? false }

    /// Prints messages: as text on standard error, everything else on standard output.
    func report(_ sink: DiagnosticSink, of loader: JobFileLoader) throws {
        switch format {
        case .text: Terminal.report(loader.renderer.render(sink))
        case .json: Terminal.print(String(decoding: try JSONRenderer.render(sink), as: UTF8.self) + "\n")
        case .sarif:
            Terminal.print(
                String(
                    decoding: try SARIFRenderer.render(sink, version: ProgramVersion.current), as: UTF8.self)
                    + "\n")
        case .github: Terminal.print(GitHubRenderer.render(sink))
        case nil:
            Terminal.report(loader.renderer.render(sink))
            if Self.isUnderGitHubActions { Terminal.print(GitHubRenderer.render(sink)) }
        }
    }

    /// The exit status of what was found.
    func status(of sink: DiagnosticSink) -> ExitCode? {
        if let status = ExitCode.forDiagnostics(sink) { return status }
        return warningsAsErrors && sink.hasWarnings ? .specWrong : nil
    }

    static var isUnderGitHubActions: Bool { getenv("GITHUB_ACTIONS").map { String(cString: $0) } == "true" }
}
