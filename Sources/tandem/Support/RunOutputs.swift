internal import ArgumentParser
internal import Engine

/// Option for the event file of a run.
struct EventArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write events as JSON lines while jobs run; - is standard output.", valueName: "file"),
        completion: .file())
    var events: String?
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
        if junit == "-" { throw ValidationError("--junit must be a file; only --events can be -") }
    }

    /// Returns the destinations of the reports that the options request.
    func destinations(events: String? = nil) -> ReportDestinations {
        ReportDestinations(junit: junit, reports: report, events: events)
    }
}
