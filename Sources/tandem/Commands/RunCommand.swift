internal import ArgumentParser
internal import Diagnostics
internal import Glibc
internal import JobPlan
internal import JobRun

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Plans job files and carries them out.",
        discussion: """
            The first interrupt (Ctrl-C) starts no further job and lets running ones finish; the second, and SIGTERM, cancel \
            at once. A job that does not succeed leaves nothing behind.
            """)

    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @Option(name: .shortAndLong, help: "Jobs at a time; as many as there are processors when absent.")
    var jobs: Int?

    func validate() throws {
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("--jobs is a number from 1 to 256") }
    }

    func run() async throws {
        let loader = JobFileLoader(files)
        try loader.report(loader.sink, as: .text)
        if let status = ExitCode.forDiagnostics(loader.sink) { throw status }
        let result = Planner.plan(loader.files)
        if result.conflicts.hasErrors {
            try loader.report(result.conflicts, as: .text)
            throw ExitCode.specWrong
        }
        // A reader that went away is an error of the write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        let display = ProgressDisplay(renderer: loader.renderer)
        let runner = BatchRunner(
            plan: result.plan, files: loader.files,
            limit: jobs ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))),
            observer: display)
        let signals = SignalWatch(
            onFirstInterrupt: {
                display.say("interrupted: running jobs finish, no further one starts; once more cancels them")
                runner.stopAdmitting()
            }, onCancel: { runner.cancel() })
        display.begin(runner)
        let outcomes = await runner.run()
        display.end(outcomes, refusals: result.plan.refusals)
        if let status = signals.status { throw status }
        if outcomes.contains(where: { !$0.outcome.isSuccess }) { throw ExitCode.jobFailed }
    }
}
