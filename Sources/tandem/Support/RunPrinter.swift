internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun

/// Flags for the amount of output of a run.
enum VerbosityFlag: String, EnumerableFlag {
    case quiet, verbose, normal

    static func visibility(for value: VerbosityFlag) -> ArgumentVisibility {
        value == .normal ? .hidden : .default
    }

    static func name(for value: VerbosityFlag) -> NameSpecification {
        value == .normal ? .customLong("no-verbose") : .shortAndLong
    }

    var verbosity: ProgressDisplay.Verbosity {
        switch self {
        case .quiet: .quiet
        case .verbose: .verbose
        case .normal: .normal
        }
    }
}

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
