internal import ArgumentParser
internal import Diagnostics
internal import JobPlan
internal import JobRun
internal import JobSpec

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Says why a job would run again, or that it is up to date.")

    @Argument(help: "A job file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Argument(help: "A job, or a run of one.")
    var job: String

    @OptionGroup var settings: SpecSettings
    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments
    @OptionGroup var reporting: ReportArguments

    func run() throws {
        let loader = try settings.load([file])
        try reporting.report(loader.sink, of: loader)
        if let status = reporting.status(of: loader.sink) { throw status }
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
            loader.files, only: [job], from: file, memory: FullPlanMemory(memory), prober: prober)
        let forecast = try StateArguments.must { () throws(StateError) in
            try RunForecast(result.plan, files: result.files, state: memory, prober: prober)
        }
        for plan in result.plan.jobs where plan.id == job || plan.base == job {
            for task in plan.tasks {
                let reasons = forecast.reasons(for: task)
                let verdict =
                    reasons.lines.isEmpty
                    ? "up to date" : reasons.onlyJudges ? "its output stays, and is judged" : "runs"
                Terminal.print(SafeText.line("\(task.name): \(verdict)") + "\n")
                for reason in reasons.lines { Terminal.print(SafeText.line("  \(reason)") + "\n") }
            }
        }
        // What can't be planned says so below, and hides nothing of the others.
        try reporting.report(result.diagnostics, of: loader)
        if let status = reporting.status(of: result.diagnostics) { throw status }
    }
}
