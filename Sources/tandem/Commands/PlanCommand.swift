internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import JobPlan

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "The dry run: probes the sources and prints what will happen to every track; writes no output.")

    @Argument(help: "Job files.", completion: .file(extensions: ["yaml", "yml"]))
    var files: [String]

    @Option(help: "How the plan is printed.")
    var format: ReportFormat = .text

    func run() throws {
        let loader = JobFileLoader(files)
        if let status = ExitCode.forDiagnostics(loader.sink) {
            try loader.report(loader.sink, as: format)
            throw status
        }
        let result = Planner.plan(loader.files)
        switch format {
        case .text:
            Terminal.print(PlanText.render(result.plan))
            Terminal.report(loader.renderer.render(result.diagnostics))
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let report = Report(plan: result.plan, diagnostics: result.diagnostics.diagnostics)
            Terminal.print(String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
        }
        if let status = ExitCode.forDiagnostics(result.diagnostics) { throw status }
    }

    private struct Report: Encodable {
        let plan: BatchPlan
        let diagnostics: [Diagnostic]
    }
}
