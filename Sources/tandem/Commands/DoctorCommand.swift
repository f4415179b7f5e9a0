internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun
internal import LibAV

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Report what this machine provides: libraries, encoders, space, and what the sandbox denies.",
        discussion: """
            A worker attempts actions that the sandbox must deny. Exit status: 0 if all were denied, libraries are compatible, \
            and the folders for temporary files and of --state are writable; 4 otherwise. `--require-sandbox` requires the same sandbox.
            """)

    @OptionGroup var workers: WorkerArguments
    @OptionGroup var state: StateArguments

    @Option(help: "Output format.")
    var format: ProbeFormat = .text

    @Flag(help: "Test a worker with network access.")
    var allowNetwork = false

    func run() throws {
        let access = SourceAccess(
            sources: SourceEnvironment(allowsNetwork: allowNetwork), isUntrusted: false)
        let settings = workers.settings
        guard settings.usesWorkers else {
            throw ValidationError("doctor requires a worker, and can't be combined with --isolation none")
        }
        let report = DoctorReport(
            state: state.location, isSandboxed: workers.sandbox, allowsNetwork: allowNetwork
        ) { () throws(EngineError) in
            guard let pool = try settings.pool(in: nil, access) else {
                throw EngineError(.environment, "no worker can be started")
            }
            return pool
        }
        switch format {
        case .json: Terminal.print(try JSONFormat.text(of: report))
        case .text: Terminal.print(report.text)
        }
        if !report.isSufficient { throw ExitCode(RunStatus.environment) }
    }
}
