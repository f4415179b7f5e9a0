internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import JobRun
internal import JobSpec

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "Dry run: probe the sources, and print what will happen to every track. Writes no output.")

    @OptionGroup var spec: SpecArguments
    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var planReporting: PlanReportArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Plan only this job or job instance, and the jobs that it requires; repeatable.",
            valueName: "id"), completion: .jobs)
    var only: [String] = []

    @Option(
        help:
            "Write the plan to a file for `tandem run --plan`; with --shards, to a folder.",
        completion: .file())
    var out: String?

    @Option(
        help:
            "Number of parts of the plan, which can run on several machines that share the folder."
    )
    var shards: Int?

    @Option(
        help: "Print the differences from an earlier plan, which --out or --format json wrote.",
        completion: .file(extensions: ["json"]))
    var against: String?

    private var reporting: ReportArguments { planReporting.common }

    func validate() throws {
        if against != nil, reporting.isForPrograms {
            throw ValidationError("--against can only be combined with --format text or markdown")
        }
        if let problem = URLScheme.problem(of: "--out", out) { throw ValidationError(problem) }
        guard let shards else { return }
        if out == nil { throw ValidationError("--shards requires --out DIR, the folder for the parts") }
        if !(1...ShardFolder.maxParts).contains(shards) {
            throw ValidationError("--shards must be from 1 to \(ShardFolder.maxParts)")
        }
    }

    func run() throws {
        let earlier = try against.map { try EarlierPlan(reading: $0) }
        // Paths are absolute, because parts can be run from any folder.
        let paths = shards == nil ? spec.files : spec.files.map { StateFolder(path: $0).absolute }
        let set = try variables.load(paths, access.granted(for: paths))
        let result = try reporting.passing(set) {
            try DryRun(of: set, reporting.strictness, state: state.location, workers: workers.settings)
                .plan(only: only, inParts: shards != nil)
        }
        let planned = result.planned
        var all = set.diagnostics
        all.add(planned.diagnostics)
        try show(planned, since: earlier, result.forecast, all, of: set)
        let status = reporting.strictness.status(of: all)
        if let status, shards == nil || !planned.canBeSplit(reporting.strictness, all) {
            if out != nil {
                Terminal.report(
                    "no plan was written, because it would be incomplete; --only selects jobs\n")
            }
            throw ExitCode(status)
        }
        guard let out else { return }
        let written = try SavedPlan.write(
            planned, of: set, variables: try variables.values(), to: out, shards: shards,
            by: result.forecast.work(of:))
        guard let status else { return }
        let count = written.refusals.count
        Terminal.report(
            "the parts don't contain \(counted(count, "job")) with errors, which `tandem collect` reports as failed\n"
        )
        throw ExitCode(status)
    }

    private func show(
        _ planned: Pipeline.Planned, since earlier: EarlierPlan?, _ forecast: RunForecast,
        _ diagnostics: DiagnosticSink, of set: JobFileSet
    ) throws {
        let listing = PlanListing(planned, since: earlier)
        switch planReporting.format {
        case .json:
            let report = PlanReport(planned.plan, forecast, diagnostics)
            return Terminal.print(try JSONFormat.text(of: report))
        case .markdown: Terminal.print(try listing.markdown(forecast))
        case .text, nil: Terminal.print(try listing.text(forecast))
        case .sarif, .github: break
        }
        try reporting.report(diagnostics, of: set)
    }
}
