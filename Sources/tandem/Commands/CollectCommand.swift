internal import ArgumentParser
internal import Engine

struct CollectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "collect",
        abstract: "Report the results of a plan that was run in parts, and list the jobs that are not done.",
        discussion:
            "An output counts as done only if it is unchanged since it was published.")

    @OptionGroup var batch: BatchArguments
    @OptionGroup var outputs: RunOutputs

    func run() throws {
        let batch = try batch.batch()
        try batch.end(batch.results(), writing: outputs.destinations())
    }
}
