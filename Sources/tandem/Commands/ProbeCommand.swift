public import ArgumentParser
internal import Diagnostics
internal import Engine
internal import FoundationEssentials
internal import JobPlan
internal import LibAV
public import Media
internal import Streaming

struct ProbeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "probe",
        abstract:
            "Print the tracks, timing and tags of a media file, or the renditions of a streaming package."
    )

    @Argument(
        help:
            "Media file, or URL with --allow-network; playlist (.m3u8) or MPD of a streaming package on disk.",
        completion: .file())
    var asset: String

    @OptionGroup var access: AccessArguments
    @OptionGroup var workers: WorkerArguments

    @Option(help: "Read times from the header and the index (fast), or from every packet (precise).")
    var timing: AssetTiming = .fast

    @Option(help: "Output format.")
    var format: ProbeFormat = .text

    func run() throws {
        let access = try access.granted(for: [asset])
        if !SourceLocation.isRemote(asset), PackageProbe.isManifest(asset) {
            let package = try PackageProbe.description(of: asset, access)
            return switch format {
            case .text: Terminal.print(PackageText.render(package, name: asset))
            case .json: Terminal.print(try JSONFormat.text(of: package))
            }
        }
        let description = try workers.settings.describe(asset, access, timing)
        switch format {
        case .text: Terminal.print(ProbeText.render(description, name: asset))
        case .json:
            Terminal.print(
                try JSONFormat.text(of: description))
        }
    }
}

extension AssetTiming: ExpressibleByArgument {}

/// The output format of commands that print no diagnostics.
enum ProbeFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}
