internal import ArgumentParser
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

struct InitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Writes a commented job file for a media file to standard output.")

    @Argument(help: "A media file, or with --allow-network a URL.", completion: .file())
    var asset: String

    @OptionGroup var network: NetworkArguments

    func run() async throws {
        network.apply()
        let contents: AssetContents
        do {
            contents = try await Asset(.file(asset)).load(.contents)
        } catch {
            Terminal.report("tandem: \(error)\n")
            throw ExitCode.jobFailed
        }
        Terminal.print(JobFileTemplate(path: asset, source: SourceDescription(contents)).text)
    }
}
