internal import ArgumentParser
internal import Diagnostics

struct ValidateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Checks job files by themselves; opens no media.")

    @OptionGroup var spec: SpecArguments
    @OptionGroup var reporting: ReportArguments

    func run() throws {
        let loader = try spec.load()
        try reporting.report(loader.sink, of: loader)
        if let status = reporting.status(of: loader.sink) { throw status }
    }
}
