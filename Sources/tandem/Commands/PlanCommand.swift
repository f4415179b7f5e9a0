internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import JobPlan
internal import JobRun
internal import LibAV

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "The dry run: probes the sources and prints what will happen to every track; writes no output.")

    @OptionGroup var spec: SpecArguments
    @OptionGroup var reporting: ReportArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Only this job (or run of one), and what it reads or needs; may be given several times.",
            valueName: "id"))
    var only: [String] = []

    @Option(
        help:
            "Writes the plan to a file, for `tandem run --plan`; with --shards the folder that gets the parts.",
        completion: .file())
    var out: String?

    @Option(
        help:
            "Splits the plan into so many parts, which may be carried out on several machines that share the folder."
    )
    var shards: Int?

    func validate() throws {
        guard let shards else { return }
        if out == nil { throw ValidationError("--shards wants --out DIR, the folder for the parts") }
        if !(1...10_000).contains(shards) { throw ValidationError("--shards is a number from 1 to 10000") }
    }

    func run() throws {
        // Parts are carried out from anywhere.
        let paths = shards == nil ? spec.files : spec.files.map { StateFolder(path: $0).absolute }
        let loader = try spec.settings.load(paths)
        if let status = reporting.status(of: loader.sink) {
            try reporting.report(loader.sink, of: loader)
            throw status
        }
        let memory = try state.open(loader, isReading: true)
        let pool = try workers.pool(in: nil, loader.access, onlyLooks: true)
        defer {
            workers.say(pool)
            pool?.close()
        }
        let prober: any SourceProber = pool ?? loader.access.prober
        let tried = prober.tryOut(loader.files)
        if let status = reporting.status(of: tried) {
            try reporting.report(tried, of: loader)
            throw status
        }
        let result = BatchPlanner.plan(
            loader.files, only: only, memory: FullPlanMemory(memory), prober: prober)
        let forecast = try StateArguments.must { () throws(StateError) in
            try RunForecast(result.plan, files: result.files, state: memory, prober: prober)
        }
        var all = loader.sink
        all.add(result.diagnostics)
        if reporting.format == .json {
            let report = Report(
                plan: result.plan,
                runs: result.plan.jobs.flatMap(\.tasks).map {
                    Report.Run(id: $0.name, file: $0.file, forecast.reasons(for: $0))
                }, diagnostics: all.diagnostics)
            Terminal.print(try JSONForm.text(of: report))
        } else {
            if reporting.format == nil || reporting.format == .text {
                Terminal.print(PlanText.render(result.plan, reasons: forecast.reasons))
            }
            try reporting.report(all, of: loader)
        }
        let status = reporting.status(of: all)
        // Jobs that can't be planned are left out of the parts; what stands against all of them, or a warning that is to
        // be an error, leaves no parts.
        let isOfSomeJobs =
            shards != nil && !result.conflicts.hasErrors && !result.plan.jobs.isEmpty
            && !(reporting.warningsAsErrors && all.hasWarnings)
        if let status, !isOfSomeJobs {
            if out != nil {
                Terminal.report(
                    "no plan was written: it would be of a part of the jobs; --only leaves others out\n")
            }
            throw status
        }
        if let out {
            let files = shards == nil ? [out] : []
            if let problem = RunOutputs.problem(writing: files, with: result.plan, of: result.files) {
                Terminal.say("error: \(problem)")
                throw ExitCode.environment
            }
            let plan = shards == nil ? result.plan : ShardPlanner.withoutWaiting(result.plan)
            let file = PlanFile(
                files: paths, specs: loader.specs, variables: try spec.settings.values(), plan: plan)
            if let shards {
                do throws(ShardFolder.Problem) {
                    try ShardFolder(path: out, beneath: loader.access.sources.root).write(
                        file, shards: ShardPlanner.split(plan, into: shards))
                } catch {
                    Terminal.say("error: \(error)")
                    throw ExitCode.environment
                }
                guard let status else { return }
                let count = plan.refusals.count
                Terminal.report(
                    "the parts are written without \(count) job\(count == 1 ? "" : "s") that can't be carried out; `tandem collect` reports \(count == 1 ? "it" : "them") as failed\n"
                )
                throw status
            }
            do {
                try ReportFile.write(Array(file.data()), to: out)
            } catch {
                Terminal.say("error: the plan: \(error)")
                throw ExitCode.environment
            }
        }
    }

    private struct Report: Encodable {
        /// Whether a job would run; it is up to date where there are no reasons.
        struct Run: Encodable {
            let id: String
            let file: String
            let reasons: [String]
            /// Its output stays, and what is newly expected of it is judged.
            let onlyJudges: Bool

            init(id: String, file: String, _ why: RunReasons) {
                (self.id, self.file) = (id, file)
                (reasons, onlyJudges) = (why.lines, why.onlyJudges)
            }
        }

        let plan: BatchPlan
        let runs: [Run]
        let diagnostics: [Diagnostic]
    }
}
