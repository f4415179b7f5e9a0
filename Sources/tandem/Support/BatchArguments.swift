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
    /// Displays the state of the parts until all have ended, then prints the jobs that aren't done, and exits if there are
    /// any.
    func finish() async throws {
        try await follow { Terminal.reportLine($0) }
        let results = try results()
        results.print()
        if results.status != .succeeded { throw ExitCode(results.status) }
    }
}

extension ClusterBatch.Results {
    /// Prints the jobs that aren't done, and the number of those that are.
    func print() {
        for line in missing { Terminal.print(line + "\n") }
        Terminal.report(summary + "\n")
    }
}
