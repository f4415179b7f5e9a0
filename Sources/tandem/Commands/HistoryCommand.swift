internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import FileSystem

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List past runs of job files with their failures, latest first.")

    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @OptionGroup var access: AccessArguments
    @OptionGroup var state: StateArguments

    @Option(name: .shortAndLong, help: "Maximum number of runs.")
    var number = 20

    @Option(help: "Output format.")
    var format: ProbeFormat = .text

    func run() throws {
        let access = try access.granted(for: files)
        for file in files where FileIdentity(path: file) == nil {
            throw EngineError(.invalidSpec, "job file not found: \(file)")
        }
        let memory = try state.location.open(files: files, access)
        let report = try HistoryReport(memory, limit: number)
        Terminal.print(format == .json ? try JSONFormat.text(of: report.entries) : report.text)
    }
}
