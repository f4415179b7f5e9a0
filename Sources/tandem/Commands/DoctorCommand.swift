internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun
internal import LibAV

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Reports what this machine's sandbox prevents: a sandboxed worker attempts what it must not be able to do.",
        discussion: """
            Nothing is guessed: each line is something that a worker tried from inside. Exit status 0 where nothing worked, 4 \
            otherwise; `--require-sandbox` asks for the same parts.
            """)

    @OptionGroup var workers: WorkerArguments

    @Option(help: "How it is printed.")
    var format: ProbeFormat = .text

    @Flag(help: "Asks a worker that may fetch by URL.")
    var allowNetwork = false

    func run() throws {
        let access = SourceAccess(
            sources: SourceEnvironment(allowsNetwork: allowNetwork), isUntrusted: false)
        guard let pool = try workers.settings.pool(in: nil, access) else {
            throw ValidationError("doctor asks a worker; --isolation none has none")
        }
        defer { pool.close() }
        let report = try DoctorReport(pool, isSandboxed: workers.sandbox, allowsNetwork: allowNetwork)
        switch format {
        case .json: Terminal.print(try JSONForm.text(of: report))
        case .text: Terminal.print(report.text)
        }
        if !report.isClosed { throw ExitCode(RunStatus.environment) }
    }
}
