internal import ArgumentParser
internal import Diagnostics
internal import Engine
internal import JobRun

struct CollectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Report the results of a plan that was run in parts, and list the jobs that are not done.",
        discussion:
            "An output counts as done only if it is unchanged since it was published.")

    @Argument(help: "Folder that `tandem plan --shards N --out DIR` created.", completion: .directory)
    var folder: String

    @Option(
        help: ArgumentHelp(
            "Require the folder and all outputs in its results to be inside this folder, with symbolic links resolved.",
            valueName: "dir"),
        completion: .directory)
    var root: String?

    @OptionGroup var outputs: RunOutputs

    func run() throws {
        let shards = ShardFolder(path: folder, beneath: try SourceAccess.root(root))
        let report: RunReport
        do throws(ShardFolder.Problem) {
            report = try shards.collect()
        } catch {
            throw EngineError(.invalidSpec, "\(error)")
        }
        let missing = report.jobs.filter { !$0.isDone }
        for job in missing {
            let why = job.reason.map { ": " + TextRenderer.printable($0) } ?? ""
            Terminal.print(
                "\(job.outcome)  \(TextRenderer.printable(job.id)) of \(TextRenderer.printable(job.file))\(why)\n"
            )
        }
        Terminal.report("\(report.jobs.count - missing.count) of \(report.jobs.count) jobs done\n")
        let destinations = outputs.destinations()
        let problems = destinations.write(
            report,
            previews: destinations.wantsPreviews
                ? shards.previews(of: report, limit: HTMLRenderer.maxPreviews) : [:])
        for problem in problems { Terminal.reportLine(problem) }
        if !missing.isEmpty {
            let onlyExpectations = missing.allSatisfy { $0.rule == Rule.expectationFailed.rawValue }
            throw ExitCode(onlyExpectations ? RunStatus.expectationFailed : .jobFailed)
        }
        if !problems.isEmpty { throw ExitCode(RunStatus.environment) }
    }
}
