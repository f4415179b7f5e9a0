import Foundation
import JobSpec
import LibAV
import Media
import Testing

/// What a codec or a container can do is stated in its model: nothing else asks for its name.
@Suite struct StatedOnceTests {
    /// Where names are stated, and lists of what may be opened at all.
    private static let stated = [
        "JobSpec/Codecs/", "JobSpec/Presets/", "JobSpec/Language/", "LibAV/Encoders/", "LibAV/Registry/",
        "LibAV/IO/InputLimits.swift", "Media/Containers/", "Media/Packets/SourceContainer.swift",
    ]
    /// What is about a parser or a check of libav's that has one name.
    private static let ours = [
        // The one who opens decoders, and the demuxer whose log says what it skipped.
        "LibAV/Codec/CodecContext.swift", "LibAV/Format/Demuxer.swift", "LibAV/Format/CueFileCheck.swift",
        // The names of subtitles' own table.
        "Media/Subtitles/SubtitleCodec.swift",
    ]

    @Test func namesAreComparedNowhereElse() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
        let names = Set(
            CodecNames.all + ContainerType.all.flatMap { [$0.name, $0.muxer] }
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
            let place = String(file.path.dropFirst(sources.path.count + 1))
            if (Self.stated + Self.ours).contains(where: place.hasPrefix) { continue }
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                for match in line.matches(of: comparison) {
                    let name = (match.output[1].substring ?? match.output[2].substring).map(String.init) ?? ""
                    if names.contains(name) { found.append("\(place): \(line)") }
                }
            }
        }
        #expect(files > 200)
        #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    }
}
