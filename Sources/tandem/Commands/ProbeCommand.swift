public import ArgumentParser
internal import FoundationEssentials
internal import JobPlan
internal import LibAV
public import Media

struct ProbeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe", abstract: "Tells what is in a media file: tracks, timing, tags.")

    @Argument(help: "A media file, or with --allow-network a URL.", completion: .file())
    var asset: String

    @OptionGroup var network: NetworkArguments

    @Option(help: "fast takes times from the header and the index, precise measures every packet.")
    var timing: AssetTiming = .fast

    @Option(help: "How it is printed.")
    var format: ProbeFormat = .text

    func run() async throws {
        network.apply()
        let contents: AssetContents
        do {
            contents = try await Asset(.file(asset), timing: timing).load(.contents)
        } catch {
            Terminal.report("tandem: \(error)\n")
            throw ExitCode.jobFailed
        }
        let description = SourceDescription(contents)
        switch format {
        case .text: Terminal.print(ProbeText.render(description, name: asset, size: contents.fileSize))
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            Terminal.print(String(decoding: try encoder.encode(description), as: UTF8.self) + "\n")
        }
    }
}

extension AssetTiming: ExpressibleByArgument {}

/// In what form a source is described.
enum ProbeFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}
