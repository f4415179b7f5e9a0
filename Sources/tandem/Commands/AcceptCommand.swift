internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun

struct AcceptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Accept existing outputs as up to date, instead of creating them again.",
        discussion: """
            For outputs that a change of settings, of the program or of an encoder would create again (`tandem explain`), and \
            for those that another tool created. An output must exist, have the planned container, tracks and length, \
            and meet its expectations; settings of encoders aren't compared. Images, waveforms and packages must be unchanged \
            since Tandem published them. Later runs replace an accepted output if its job changes.
            """)

    @Argument(help: "Job file.", completion: .file(extensions: ["yaml", "yml"]))
    var file: String

    @Argument(help: "Jobs or job instances.", completion: .jobs)
    var jobs: [String] = []

    @Flag(help: "Accept the outputs of all jobs.")
    var all = false

    @Flag(help: "If another run uses the state folder, wait for it instead of failing.")
    var wait = false

    @OptionGroup var variables: VariableArguments
    @OptionGroup var access: AccessArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var workers: WorkerArguments
    @OptionGroup var reporting: ReportArguments

    func validate() throws {
        guard jobs.isEmpty != all else { return }
        throw ValidationError(all ? "--all can't be combined with jobs" : "name a job, or use --all")
    }

    func run() async throws {
        let set = try variables.load([file], access.granted(for: [file]))
        let acceptance = Acceptance(
            of: set, reporting.strictness, state: state.location, workers: workers.settings)
        var (count, refused) = (0, 0)
        do {
            var found = set.diagnostics
            found.add(
                try await acceptance.run(only: jobs, from: file, waits: wait) { verdict in
                    count += 1
                    if verdict.isRefused { refused += 1 }
                    reporting.printResult(verdict.text)
                })
            try reporting.report(found, of: set)
            if count == 0 { Terminal.report("no outputs to accept\n") }
            if refused > 0 { throw ExitCode(RunStatus.jobFailed) }
            if let status = reporting.strictness.status(of: found) { throw ExitCode(status) }
        } catch let error as Pipeline.Rejection {
            var found = set.diagnostics
            found.add(error.diagnostics)
            try reporting.report(found, of: set)
            throw ExitCode(error.status)
        }
    }
}
