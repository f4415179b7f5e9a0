internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plan and run job files.",
        discussion: """
            After the first interrupt (Ctrl-C), running jobs finish and no further job starts; the second, and SIGTERM, cancel \
            running jobs. A job that doesn't succeed publishes no output.
            """)

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var reporting: ReportArguments

    @Option(
        help: "Run a plan that `tandem plan --out` wrote; fails if anything has changed since.",
        completion: .file())
    var plan: String?

    @Option(
        help: ArgumentHelp(
            "With --plan DIR: index of the part to run, from 0 (default: SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX).",
            valueName: "index"))
    var shard: Int?

    @OptionGroup var arguments: RunArguments

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Run only this job or job instance, and the jobs that it requires; repeatable.",
            valueName: "id"), completion: .jobs)
    var only: [String] = []

    @Flag(help: "Also run jobs that are up to date.")
    var force = false

    @Flag(
        exclusivity: .exclusive,
        help: ArgumentHelp("After a failure: start no further job, or continue with independent jobs."))
    var afterFailure = AfterFailure.keepGoing

    @Flag(help: "If another run uses the state folder, wait for it instead of failing.")
    var wait = false

    @OptionGroup var outputs: RunOutputs
    @OptionGroup var eventArguments: EventArguments

    @OptionGroup var state: StateArguments
    @OptionGroup var cache: CacheArguments
    @OptionGroup var workers: WorkerArguments

    enum AfterFailure: String, EnumerableFlag {
        case failFast, keepGoing
    }

    func validate() throws {
        if plan != nil, !spec.files.isEmpty || !variables.variables.isEmpty {
            throw ValidationError("--plan can't be combined with job files or --set, which the plan contains")
        }
        if shard != nil, plan == nil { throw ValidationError("--shard requires --plan DIR") }
        if plan != nil, !only.isEmpty {
            throw ValidationError("--plan can't be combined with --only; create the plan with --only")
        }
    }

    func run() async throws {
        if plan == nil { try spec.requireFiles() }
        let session = RunSession(try options(), output: RunPrinter(reporting: reporting))
        let status = try await session.run().status
        if status != .succeeded { throw ExitCode(status) }
    }

    /// The options as the engine's configuration.
    private func options() throws -> RunOptions {
        var options = try RunOptions(
            spec, variables, access, arguments, outputs.destinations(events: eventArguments.events), state,
            cache, workers)
        (options.plan, options.shard) = (plan, shard)
        options.only = only
        (options.isForced, options.waits) = (force, wait)
        options.policy.failsFast = afterFailure == .failFast
        options.strictness = reporting.strictness
        // Command line that runs the remaining jobs.
        options.rerunCommand = ProgressDisplay.RerunCommand(
            arguments: CommandWords(CommandLine.arguments.dropFirst()).repeatingRun, acceptsNames: plan == nil
        )
        options.handlesSignals = true
        return options
    }
}
