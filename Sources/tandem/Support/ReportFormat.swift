internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan

/// The output format of diagnostics.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json, sarif, github
}

/// Options of commands that validate job files.
struct ReportArguments: ParsableArguments {
    @Option(
        help:
            "Output format of diagnostics (default: text, on GitHub Actions also annotations). All but text are printed to standard output."
    )
    var format: ReportFormat?

    @Flag(help: "Treat warnings as errors.")
    var warningsAsErrors = false

    /// Severities of diagnostics that fail the command.
    var strictness: Pipeline.Strictness { Pipeline.Strictness(warningsAreErrors: warningsAsErrors) }

    /// Whether the output is machine-readable.
    var isForPrograms: Bool { format.map { $0 != .text } ?? false }

    /// Prints diagnostics: as text to standard error, in other formats to standard output. `annotates`: whether
    /// annotations are added to text on GitHub Actions.
    func report(_ sink: DiagnosticSink, of set: JobFileSet, annotates: Bool = true) throws {
        switch format {
        case .text: Terminal.report(set.renderer.render(sink))
        case .json: Terminal.print(String(decoding: try JSONRenderer.render(sink), as: UTF8.self) + "\n")
        case .sarif:
            Terminal.print(
                String(
                    decoding: try SARIFRenderer.render(sink, version: ProgramVersion.current), as: UTF8.self)
                    + "\n")
        case .github: Terminal.print(GitHubActions.annotations(sink))
        case nil:
            Terminal.report(set.renderer.render(sink))
            if annotates, GitHubActions.isActive { Terminal.print(GitHubActions.annotations(sink)) }
        }
    }

    /// Prints a result for people: to standard output, unless that has diagnostics for programs.
    func printResult(_ text: String) {
        if isForPrograms { Terminal.report(text) } else { Terminal.print(text) }
    }

    /// Prints diagnostics, and exits if they are errors.
    func require(_ sink: DiagnosticSink, of set: JobFileSet) throws {
        try report(sink, of: set)
        if let status = strictness.status(of: sink) { throw ExitCode(status) }
    }

    /// Runs stages of the pipeline. If one rejects the job files, prints the diagnostics and exits.
    func passing<Stage>(
        _ set: JobFileSet, _ stage: () throws -> Stage
    ) throws -> Stage {
        do {
            return try stage()
        } catch let error as Pipeline.Rejection {
            try report(error.diagnostics, of: set)
            throw ExitCode(error.status)
        }
    }
}

/// The output format of `tandem plan`: of the plan, and of diagnostics as in `ReportFormat`.
enum PlanFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json, sarif, github, markdown
}

/// `ReportArguments` of `tandem plan`.
struct PlanReportArguments: ParsableArguments {
    @Option(
        help:
            "Output format of the plan (text, json, markdown) and of diagnostics (default: text, on GitHub Actions also annotations)."
    )
    var format: PlanFormat?

    @Flag(help: "Treat warnings as errors.")
    var warningsAsErrors = false

    /// The options for diagnostics, which are text beside Markdown.
    var common: ReportArguments {
        var arguments = ReportArguments()
        arguments.format = format.map { ReportFormat(rawValue: $0.rawValue) ?? .text }
        arguments.warningsAsErrors = warningsAsErrors
        return arguments
    }
}
