internal import ArgumentParser
internal import Engine

/// Arguments of commands for a batch in a shared folder.
struct BatchArguments: ParsableArguments {
    @Argument(
        help: "Folder that `tandem submit` or `tandem plan --shards N --out DIR` created.",
        completion: .directory)
    var folder: String

    @Option(
        help: ArgumentHelp(
            "Require the folder and all outputs in its results to be inside this folder, with symbolic links resolved.",
            valueName: "dir"),
        completion: .directory)
    var root: String?

    func batch() throws -> ClusterBatch { ClusterBatch(path: folder, beneath: try SourceAccess.root(root)) }
}

extension ClusterBatch {
    /// Displays the state of the parts until all have ended, prints the jobs that aren't done, writes the batch's reports,
    /// and exits if a job isn't done.
    func finish() async throws {
        try await follow(on: Terminal.console)
        try end(results(), writing: reports)
    }

    /// Prints the jobs that aren't done, writes reports, and exits if a job isn't done or a report can't be written.
    func end(_ results: Results, writing destinations: ReportDestinations) throws {
        for line in results.missing { Terminal.print(line + "\n") }
        for line in results.notes { Terminal.reportLine(line) }
        Terminal.report(results.summary + "\n")
        let problems = write(results, to: destinations)
        for problem in problems { Terminal.reportLine(problem) }
        if results.status != .succeeded { throw ExitCode(results.status) }
        if !problems.isEmpty { throw ExitCode(RunStatus.environment) }
    }
}
