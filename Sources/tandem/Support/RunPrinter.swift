internal import Diagnostics
internal import Engine
internal import JobRun

/// The output of a run on the standard streams.
struct RunPrinter: RunOutput {
    let reporting: ReportArguments
    /// Whether decoded files are retained until the process exits, which it does after one run.
    var retainsFiles = true

    var hasSingleResult: Bool { reporting.isForPrograms }

    func filesLoaded(_ set: JobFileSet) { if retainsFiles { VariableArguments.retain(set) } }

    func report(_ diagnostics: DiagnosticSink, of set: JobFileSet, annotates: Bool) throws {
        try reporting.report(diagnostics, of: set, annotates: annotates)
    }

    func printLine(_ line: String) { Terminal.reportLine(line) }

    func ended(_ report: RunReport, _ diagnostics: DiagnosticSink) {
        guard GitHubActions.isActive else { return }
        Terminal.print(
            GitHubActions.annotations(reporting.format == .github ? DiagnosticSink() : diagnostics))
        if !GitHubActions.summarize(report) {
            Terminal.reportLine("warning: the step summary can't be written")
        }
    }
}
