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
            for those that another tool created. An output must exist, have the planned tracks, and meet its expectations; \
            other settings aren't compared. Later runs replace an accepted output if its job changes.
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
        try reporting.require(set.diagnostics, of: set)
        let acceptance = Acceptance(
            of: set, reporting.strictness, state: state.location, workers: workers.settings)
        do {
            let (verdicts, diagnostics) = try await acceptance.run(only: jobs, from: file, waits: wait)
            Terminal.print(verdicts.map(\.text).joined())
            try reporting.require(diagnostics, of: set)
            if verdicts.contains(where: \.isRefused) { throw ExitCode(RunStatus.jobFailed) }
        } catch let error as Pipeline.Rejection {
            try reporting.report(error.diagnostics, of: set)
            throw ExitCode(error.status)
        }
    }
}
