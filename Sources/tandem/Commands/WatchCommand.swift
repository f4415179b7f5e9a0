internal import ArgumentParser
internal import Engine
internal import JobRun

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Run job files whenever files appear or change.",
        discussion: """
            A file is taken when it is complete: it hasn't changed for some time (--settle), and no process is known to have it \
            open for writing; files of other users must be unchanged for five times as long. A failed job runs again after one \
            of its files, or the job file, has changed. Reports describe all jobs that have run and whose files exist.

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

    @OptionGroup var arguments: RunArguments

    @Flag(help: "Treat warnings as errors.")
    var warningsAsErrors = false

    @OptionGroup var outputs: RunOutputs
    @OptionGroup var eventArguments: EventArguments

    @OptionGroup var state: StateArguments
    @OptionGroup var cache: CacheArguments
    @OptionGroup var workers: WorkerArguments

    func validate() throws {
        if let problem = WatchSession.Options.problem(settling: settle) { throw ValidationError(problem) }
    }

    func run() async throws {
        try spec.requireFiles()
        var reporting = ReportArguments()
        (reporting.format, reporting.warningsAsErrors) = (.text, warningsAsErrors)
        var options = try RunOptions(
            spec, variables, access, arguments, outputs.destinations(events: eventArguments.events), state,
            cache, workers)
        options.strictness = reporting.strictness
        let session = WatchSession(
            WatchSession.Options(run: options, settling: settle),
            output: RunPrinter(reporting: reporting, retainsFiles: false))
        let status = try await session.run()
        if status != .succeeded { throw ExitCode(status) }
    }
}
