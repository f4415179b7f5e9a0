internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import JobRun

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Report why a job would run again, or that it is up to date.")

    @Argument(help: "Job file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Argument(help: "A job or a job instance.", completion: .jobs)
    var job: String

    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments
    @OptionGroup var reporting: ReportArguments

    func run() throws {
        let set = try variables.load([file], access.granted(for: [file]))
        try reporting.require(set.diagnostics, of: set)
        let state = try state.location.open(set, isReading: true)
        let pool = try workers.settings.pool(in: nil, set.access, onlyProbes: true)
        defer {
            workers.settings.report(pool)
            pool?.close()
        }
        let opened = try reporting.passing(set) { () throws(Pipeline.Rejection) in
            try set.loaded.checked(reporting.strictness).opened(by: pool ?? set.access.prober)
        }
        let planned = opened.planned(only: [job], from: file, memory: FullPlanMemory(state))
        let forecast = try StateLocation.convertingErrors { () throws(StateError) in
            try planned.forecast(state)
        }
        Terminal.print(ExplainReport(job, planned, forecast).text)
        // Errors of jobs that can't be planned are reported last, so that the results of others are printed first.
        try reporting.require(planned.diagnostics, of: set)
    }
}
