internal import ArgumentParser
internal import Diagnostics
internal import Engine
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

    func run() throws {
        let access = try access.granted(for: files)
        for file in files where FileIdentity(path: file) == nil {
            throw EngineError(.specWrong, "there is no job file \(file)")
        }
        let memory = try state.location.open(files: files, access)
        let report = try HistoryReport(memory, limit: number)
        Terminal.print(format == .json ? try JSONForm.text(of: report.entries) : report.text)
    }
}
