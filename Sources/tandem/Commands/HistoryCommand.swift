internal import ArgumentParser
internal import FoundationEssentials
internal import JobRun
internal import Diagnostics
internal import Engine
internal import JobPlan
internal import FileSystem

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Lists past runs of job files, the latest first, with what failed in them.")

    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @OptionGroup var access: AccessArguments
    @OptionGroup var state: StateArguments

    @Option(name: .shortAndLong, help: "How many runs at most.")
    var number = 20

    @Option(help: "How it is printed.")
    var format: ProbeFormat = .text

    private struct Entry: Encodable {
        let state: String
        let run: PastRun
        let failures: [PastRun.Attempt]
    }

    func run() throws {
        let access = try access.granted(for: files)
        for file in files where FileIdentity(path: file) == nil {
            throw EngineError(.specWrong, "there is no job file \(file)")
        }
        let memory = try state.location.open(files: files, access)
        let runs = try StateLocation.converting { () throws(StateError) in try memory.history(limit: number) }
        if format == .json {
            let entries = runs.map { Entry(state: $0.folder.path, run: $0.run, failures: $0.attempts) }
            Terminal.print(try JSONForm.text(of: entries))
            return
        }
        if runs.isEmpty { Terminal.print("no run is known\n") }
        for (_, run, attempts) in runs {
            let begun = Date(timeIntervalSince1970: run.begun).formatted(.iso8601)
            let open = run.status == "running" ? "so far" : "did not end"
            let lasted = run.ended.map { String(Int(($0 - run.begun).rounded())) + " s" } ?? open
            Terminal.print(
                "run \(run.number)  \(begun)  \(run.status)  \(run.done) done, \(run.current) up to date, \(run.failed) not  \(lasted)  \(TextRenderer.printable(run.files))\n"
            )
            for attempt in attempts.prefix(10) {
                let why = attempt.message.isEmpty ? "" : ": " + TextRenderer.printable(attempt.message)
                Terminal.print("  \(attempt.outcome)  \(TextRenderer.printable(attempt.job))\(why)\n")
            }
            if attempts.count > 10 { Terminal.print("  and \(attempts.count - 10) more\n") }
        }
    }
}
