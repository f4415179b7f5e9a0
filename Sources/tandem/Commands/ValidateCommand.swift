internal import ArgumentParser
internal import Diagnostics

struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Checks job files by themselves; opens no media.")

    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @Option(help: "How problems are printed: text on standard error, json on standard output.")
    var format: ReportFormat = .text

    func run() throws {
        let loader = JobFileLoader(files)
        try loader.report(loader.sink, as: format)
        if let status = ExitCode.forDiagnostics(loader.sink) { throw status }
    }
}
