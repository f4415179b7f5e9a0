internal import ArgumentParser
internal import Diagnostics

/// In what form results are printed.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}

extension JobFileLoader {
    /// Prints messages: as text on standard error, as JSON on standard output.
    func report(_ sink: DiagnosticSink, as format: ReportFormat) throws {
        switch format {
        case .text: Terminal.report(renderer.render(sink))
        case .json: Terminal.print(String(decoding: try JSONRenderer.render(sink), as: UTF8.self) + "\n")
        }
    }
}
