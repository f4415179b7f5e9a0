internal import ArgumentParser
internal import Engine
internal import JobSpec

/// Option for the event file of a run.
struct EventArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write events as JSON lines while jobs run; - is standard output.", valueName: "file"),
        completion: .file())
    var events: String?

    func validate() throws {
        if let problem = URLScheme.problem(of: "--events", events) { throw ValidationError(problem) }
    }
}

/// Options for the report files of a run.
struct RunOutputs: ParsableArguments {
    @Option(help: ArgumentHelp("Write the results as JUnit XML.", valueName: "file"), completion: .file())
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "Write the results as HTML (.html) or JSON (.json); repeatable.",
            valueName: "file"), completion: .file())
    var report: [String] = []

    func validate() throws {
        for path in report where !path.hasSuffix(".html") && !path.hasSuffix(".json") {
            throw ValidationError("--report must end in .html or .json, not \(path)")
        }
        for path in report {
            if let problem = URLScheme.problem(of: "--report", path) { throw ValidationError(problem) }
        }
        if let problem = URLScheme.problem(of: "--junit", junit) { throw ValidationError(problem) }
        if junit == "-" { throw ValidationError("--junit must be a file; only --events can be -") }
    }

    /// Returns the destinations of the reports that the options request.
    func destinations(events: String? = nil) -> ReportDestinations {
        ReportDestinations(junit: junit, reports: report, events: events)
    }
}
