internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import JobPlan

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "The dry run: probes the sources and prints what will happen to every track; writes no output.")

    @OptionGroup var spec: SpecArguments
    @OptionGroup var reporting: ReportArguments

    @Option(help: "Writes the plan to a file, for `tandem run --plan`.", completion: .file())
    var out: String?

    func run() throws {
        let loader = try spec.load()
        if let status = reporting.status(of: loader.sink) {
            try reporting.report(loader.sink, of: loader)
            throw status
        }
        let result = Planner.plan(loader.files)
        var all = loader.sink
        all.add(result.diagnostics)
        if reporting.format == .json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            let report = Report(plan: result.plan, diagnostics: all.diagnostics)
            Terminal.print(String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
        } else {
            if reporting.format == nil || reporting.format == .text {
                Terminal.print(PlanText.render(result.plan))
            }
            try reporting.report(all, of: loader)
        }
        if let status = reporting.status(of: all) { throw status }
        if let out {
            let file = PlanFile(
                files: spec.files, specs: loader.specs, variables: try spec.values(), plan: result.plan)
            do {
                try file.data().write(to: URL(filePath: out), options: .atomic)
            } catch {
                Terminal.report("the plan can't be written to \(out): \(error)\n")
                throw ExitCode.environment
            }
        }
    }

    private struct Report: Encodable {
        let plan: BatchPlan
        let diagnostics: [Diagnostic]
    }
}
