internal import ArgumentParser
internal import Diagnostics
internal import Engine

struct CodecsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codecs", abstract: "List the encoders, decoders and formats of this build.")

    @Option(help: "Output format.")
    var format: ProbeFormat = .text

    func run() throws {
        let report = CodecsReport()
        switch format {
        case .json: Terminal.print(try JSONFormat.text(of: report))
        case .text: Terminal.print(report.text)
        }
    }
}
