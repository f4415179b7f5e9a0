internal import ArgumentParser
internal import Diagnostics
internal import Engine

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Print the state of a batch that `tandem submit` started.")

    @OptionGroup var batch: BatchArguments

    @Flag(help: "Wait for the end of the batch, and print each change.")
    var follow = false

    @Option(help: "Output format.")
    var format: ProbeFormat = .text

    func validate() throws {
        if follow, format != .text { throw ValidationError("--follow can't be combined with --format json") }
    }

    func run() async throws {
        let batch = try batch.batch()
        if follow { return try await batch.finish() }
        let (status, results) = (try await batch.status(), try batch.results())
        switch format {
        case .text: Terminal.print("\(status.line)\n\(results.summary)\n")
        case .json: Terminal.print(try JSONFormat.text(of: ClusterBatch.StatusReport(status, results)))
        }
    }
}

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel the parts of a batch that wait or run.",
        discussion:
            "Jobs that were done stay done; cancelled ones publish nothing. `tandem resubmit` runs them again."
    )

    @OptionGroup var batch: BatchArguments

    func run() async throws { try await batch.batch().cancel() }
}

struct ResubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resubmit",
        abstract: "Run the jobs of a batch that are not done and that no part is still going to run.",
        discussion:
            "Parts without such jobs aren't submitted. Engine, program and resources are those of the latest submission, unless options state other resources."
    )

    @OptionGroup var batch: BatchArguments
    @OptionGroup var requested: ResourceArguments

    @Flag(help: "Don't wait for the end of the batch.")
    var detach = false

    func run() async throws {
        let batch = try batch.batch()
        let submitted = try await batch.resubmit(requested.resources)
        Terminal.reportLine(
            submitted?.text ?? "nothing to submit: each job is done, waits, runs, or can't be planned")
        if !detach, submitted?.isStarted != false { try await batch.finish() }
    }
}
