internal import ArgumentParser
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Writes a commented job file for a media file to standard output.")

    @Argument(help: "A media file, or with --allow-network a URL.", completion: .file())
    var asset: String

    @OptionGroup var access: AccessArguments
    @OptionGroup var workers: WorkerArguments

    func run() throws {
        try access.apply([asset])
        Terminal.print(JobFileTemplate(path: asset, source: try workers.describe(asset)).text)
    }
}
