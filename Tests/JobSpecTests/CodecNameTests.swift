import Foundation
import JobSpec
import LibAV
import Media
import Testing

/// Properties of codecs and containers are defined in their models; other code doesn't compare names.
@Suite struct CodecNameTests {
    /// Folders and files that define names, or list formats that may be opened.
    private static let definitions = [
        "JobSpec/Codecs/", "JobSpec/Presets/", "JobSpec/Language/", "LibAV/Encoders/", "LibAV/Registry/",
        "LibAV/IO/InputLimits.swift", "LibAV/Format/DemuxerModel.swift", "Media/Containers/",
    ]
    /// Files that handle a specific parser or check of FFmpeg's libraries.
    private static let exceptions = [
        // The opening of decoders.
        "LibAV/Codec/CodecContext.swift",
        // The table of subtitle codecs.
        "Media/Subtitles/SubtitleCodec.swift",
    ]

    @Test func namesAreComparedOnlyInModels() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let names = Set(
            CodecNames.all + ContainerType.all.flatMap { [$0.name, $0.model.muxer] }
                + EncoderModel.table.map(\.name)
        ).subtracting(["text", "none", "gif", "webp", "png", "jpeg", "anull", "subtitle", "ass"])
        let comparison = try Regex(
            #"(?:==|!=|\bcase\b|contains\(|hasPrefix\(|hasSuffix\()[^"]*"([a-z0-9_-]+)"|"([a-z0-9_-]+)"[^"]*(?:\]\.contains|==|!=)"#
        )
        var (files, found) = (0, [String]())
        for case let file as URL in FileManager.default.enumerator(
            at: sources, includingPropertiesForKeys: nil)!
        where file.pathExtension == "swift" {
            files += 1
            let path = String(file.path.dropFirst(sources.path.count + 1))
            if (Self.definitions + Self.exceptions).contains(where: path.hasPrefix) { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                for match in line.matches(of: comparison) {
                    let name = (match.output[1].substring ?? match.output[2].substring).map(String.init) ?? ""
                    if names.contains(name) { found.append("\(path): \(line)") }
                }
            }
        }
        #expect(files > 200)
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }
}
