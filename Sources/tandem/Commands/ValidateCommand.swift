internal import ArgumentParser
internal import Diagnostics
internal import JobPlan

struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Checks job files by themselves, and files that they include; opens no media.")

    @OptionGroup var spec: SpecArguments
    @OptionGroup var reporting: ReportArguments
    @OptionGroup var workers: WorkerArguments

    func run() throws {
        let loader = try spec.load(allowsNoJobs: true)
        var sink = loader.sink
        // Settings that filters and encoders must judge are tried in a worker, where there are any.
        sink.add(try workers.probing(loader.access) { prober in prober.tryOut(loader.files) })
        try reporting.report(sink, of: loader)
        if let status = reporting.status(of: sink) { throw status }
    }
}
