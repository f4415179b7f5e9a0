internal import ArgumentParser
internal import Engine

/// The option for the file of a run's events.
struct EventArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What happens as it happens, as JSON lines; - is standard output.", valueName: "file"),
        completion: .file())
    var events: String?
}

/// The options for a run's report files.
struct RunOutputs: ParsableArguments {
    @Option(help: ArgumentHelp("The results as JUnit's XML.", valueName: "file"), completion: .file())
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "The results as a page to read (.html), or for programs (.json); may be given several times.",
            valueName: "file"), completion: .file())
    var report: [String] = []

    func validate() throws {
        for path in report where !path.hasSuffix(".html") && !path.hasSuffix(".json") {
            throw ValidationError("--report is a file that ends in .html or .json, not \(path)")
        }
        if junit == "-" { throw ValidationError("--junit is a file: only --events can be -") }
    }

    /// Returns the report files as the engine's configuration.
    func destinations(events: String? = nil) -> ReportDestinations {
        ReportDestinations(junit: junit, reports: report, events: events)
    }
}
