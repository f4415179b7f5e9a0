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
        let result = try reporting.passing(set) {
            try DryRun(of: set, reporting.strictness, state: state.location, workers: workers.settings)
                .plan(only: [job], from: file)
        }
        reporting.printResult(ExplainReport(job, result.planned, result.forecast).text)
        // Errors of jobs that can't be planned are reported last, so that the results of others are printed first.
        var found = set.diagnostics
        found.add(result.planned.diagnostics)
        try reporting.require(found, of: set)
    }
}
