internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun
internal import LibAV

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Test the sandbox of this machine: a worker attempts actions that the sandbox must deny.",
        discussion: """
            Each line is an action that a worker attempted. Exit status: 0 if all were denied, 4 \
            otherwise. `--require-sandbox` requires the same parts.
            """)

    @OptionGroup var workers: WorkerArguments

    @Option(help: "Output format.")
    var format: ProbeFormat = .text

    @Flag(help: "Test a worker with network access.")
    var allowNetwork = false

    func run() throws {
        let access = SourceAccess(
            sources: SourceEnvironment(allowsNetwork: allowNetwork), isUntrusted: false)
        guard let pool = try workers.settings.pool(in: nil, access) else {
            throw ValidationError("doctor requires a worker, and can't be combined with --isolation none")
        }
        defer { pool.close() }
        let report = try DoctorReport(pool, isSandboxed: workers.sandbox, allowsNetwork: allowNetwork)
        switch format {
        case .json: Terminal.print(try JSONFormat.text(of: report))
        case .text: Terminal.print(report.text)
        }
        if !report.isClosed { throw ExitCode(RunStatus.environment) }
    }
}
