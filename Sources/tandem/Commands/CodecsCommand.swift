internal import ArgumentParser
internal import Diagnostics
internal import FoundationEssentials
internal import JobSpec
internal import LibAV
internal import Media

struct CodecsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "codecs", abstract: "Tells what this build encodes, decodes and writes.")

    @Option(help: "How it is printed.")
    var format: ProbeFormat = .text

    private struct Codec: Encodable {
        let name: String
        let kind: String
        let encoder: String?
        let settings: [String]
        let containers: [String]
    }
    private struct Report: Encodable {
        let version = 1
        let codecs: [Codec]
        let containers: [String]
        let decoders: [String]
        enum CodingKeys: CodingKey { case version, codecs, containers, decoders }
    }

    func run() throws {
        let codecs = (CodecCatalog.video + CodecCatalog.audio).map(Self.describe)
        let report = Report(codecs: codecs, containers: ContainerType.names, decoders: CodecNames.decodable)
        switch format {
        case .json:
            Terminal.print(try JSONForm.text(of: report))
        case .text: Terminal.print(Self.text(report))
        }
    }

    private static func describe(_ codec: CodecInfo) -> Codec {
        var settings: [String] = []
        if let crf = codec.maxCRF { settings.append("crf 0-\(crf)") }
        if let qp = codec.qpRange { settings.append("qp \(qp.lowerBound)-\(qp.upperBound)") }
        if codec.takesBitRate { settings.append("bitrate") }
        if let quality = codec.qualities {
            settings.append("quality \(quality.lowerBound)-\(quality.upperBound)")
        }
        if codec.takesTwoPasses { settings.append("two passes") }
        if codec.canBeLossless || codec.isLossless { settings.append("lossless") }
        if let presets = codec.presets {
            settings.append("preset \(presets.first ?? "") to \(presets.last ?? "")")
        }
        if let profiles = codec.profiles { settings.append("profile \(profiles.joined(separator: "|"))") }
        return Codec(
            name: codec.name, kind: codec.mediaType.rawValue, encoder: codec.availableEncoder?.name,
            settings: settings,
            containers: ContainerType.all.filter {
                $0.mediaTypes.contains(codec.mediaType) && $0.canHold(codec: codec.libavName)
            }.map(\.name))
    }

    private static func text(_ report: Report) -> String {
        var lines: [String] = []
        for codec in report.codecs {
            let encoder = codec.encoder ?? "no encoder in this build"
            lines.append(
                "\(pad(codec.name, 10)) \(pad(codec.kind, 6)) \(pad(encoder, 12)) \(codec.settings.joined(separator: ", "))"
            )
            lines.append("\(pad("", 10)) in \(codec.containers.joined(separator: " "))")
        }
        lines.append("containers  \(report.containers.joined(separator: " "))")
        lines.append("decodes     \(report.decoders.count) codecs: \(report.decoders.joined(separator: " "))")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text.count >= width ? text : text + String(repeating: " ", count: width - text.count)
    }
}
