internal import ArgumentParser
internal import Engine
internal import JobRun

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Run job files whenever files appear or change.",
        discussion: """
            A file is taken when it is complete: it hasn't changed for some time (--settle), and no process has it open for \
            writing. A failed job runs again after one of its files, or the job file, has changed. Reports describe all jobs \
            that have run.

            Ctrl-C or SIGTERM ends the watch; while jobs run, as in `tandem run`.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments

    @Option(
        help: ArgumentHelp(
            "Time for which a file is unchanged before it counts as complete, from 0.1 to 3600 seconds (default: 2).",
            valueName: "time"))
    var settle: String?

    @Option(
        name: .shortAndLong,
        help: "Maximum number of concurrent jobs (default: chosen from the jobs' estimated CPU cost).")
    var jobs: Int?

    @Flag(help: "Treat warnings as errors.")
    var warningsAsErrors = false

    @OptionGroup var outputs: RunOutputs
    @OptionGroup var eventArguments: EventArguments

    @Flag(help: "Keep an output that fails its expectations as NAME.failed.EXT beside its destination.")
    var keepFailed = false

    @Flag(exclusivity: .exclusive, help: "Print only errors, or also list jobs that are up to date or wait.")
    var verbosity = VerbosityFlag.normal

    @OptionGroup var state: StateArguments
    @OptionGroup var cache: CacheArguments
    @OptionGroup var workers: WorkerArguments

    func validate() throws {
        if let problem = RunOptions.problem(jobs: jobs) ?? WatchSession.Options.problem(settling: settle) {
            throw ValidationError(problem)
        }
    }

    func run() async throws {
        try spec.requireFiles()
        var reporting = ReportArguments()
        (reporting.format, reporting.warningsAsErrors) = (.text, warningsAsErrors)
        var options = RunOptions(
            state: state.location, workers: workers.settings, console: Terminal.console)
        options.files = spec.files
        options.variables = try variables.values()
        options.cache = try cache.settings(isUntrusted: access.untrusted)
        (options.root, options.isUntrusted) = (access.root, access.untrusted)
        options.allowsNetwork = access.allowNetwork
        options.policy = RunPolicy(budget: .ofThisMachine(jobs: jobs))
        options.policy.keepsFailed = keepFailed
        options.strictness = reporting.strictness
        options.destinations = outputs.destinations(events: eventArguments.events)
        options.verbosity = verbosity.verbosity
        let session = WatchSession(
            WatchSession.Options(run: options, settling: settle),
            output: RunPrinter(reporting: reporting, retainsFiles: false))
        let status = try await session.run()
        if status != .succeeded { throw ExitCode(status) }
    }
}
