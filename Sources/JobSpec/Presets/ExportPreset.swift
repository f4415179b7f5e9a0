internal import Diagnostics
package import LibAV
internal import YAMLDocument

/// A named configuration for exporting a whole source (AVFoundation's `AVAssetExportSession` presets): rules for its
/// tracks, whose settings adapt to the source.
public struct ExportPreset: Sendable {
    /// A rule for tracks of a kind.
    package struct Rule: Sendable {
        package let kind: String
        package let selection: String
        /// Encoder settings; nil for copied tracks.
        package let settings: [(key: String, value: String)]?

        /// Returns the `encode` or `copy` key of a rule, in the syntax of job files.
        package static func action(_ settings: [(key: String, value: String)]?) -> String {
            guard let settings else { return "copy: true" }
            return "encode: { \(settings.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }"
        }
    }

    /// Name in job files.
    public let name: String
    /// Short description, as listed by `tandem presets`.
    public let summary: String
    /// Names of suitable containers, the default first.
    public let containers: [String]
    /// Rules in output order; each is optional.
    package let rules: [Rule]

    /// Returns the preset of that name; nil if there is none.
    public static func named(_ name: String) -> ExportPreset? { all.first { $0.name == name } }

    /// Names of all presets.
    public static let names = all.map(\.name)

    /// All presets, in the order in which they are listed.
    public static let all: [ExportPreset] =
        [
            videoPreset(
                "low", "small files for a preview", codec: "h264", crf: 28, box: "640x360",
                audioBitRate: "64k"),
            videoPreset(
                "medium", "for the web", codec: "h264", crf: 23, box: "1280x720", audioBitRate: "128k"),
            videoPreset(
                "highest", "high-quality H.264 in the source's size", codec: "h264", crf: 17, box: nil
            ),
        ]
        + ["640x480", "960x540", "1280x720", "1920x1080", "3840x2160"].map {
            videoPreset($0, "H.264 of at most that size", codec: "h264", crf: 20, box: $0)
        }
        + [videoPreset("hevc-highest", "HEVC in the source's size", codec: "hevc", crf: 19, box: nil)]
        + ["1920x1080", "3840x2160"].map {
            videoPreset("hevc-" + $0, "HEVC of at most that size", codec: "hevc", crf: 22, box: $0)
        }
        + [
            proResPreset("prores-422", "for editing, without alpha", "standard", "yuv422p10le"),
            proResPreset("prores-4444", "for editing, with alpha", "4444", "yuva444p10le"),
            ExportPreset(
                name: "m4a", summary: "the audio alone, as AAC", containers: ["m4a", "mp4", "mov"],
                rules: [Rule(kind: "audio", selection: "all", settings: [("codec", "aac")])]),
            ExportPreset(
                name: "passthrough", summary: "video, audio and subtitles as they are",
                containers: ["mp4", "mov", "mkv"],
                rules: ["video", "audio", "subtitle"].map { Rule(kind: $0, selection: "all", settings: nil) }),
        ]

    private static func videoPreset(
        _ name: String, _ summary: String, codec: String, crf: Int, box: String?, audioBitRate: String? = nil
    ) -> ExportPreset {
        var video = [("codec", codec), ("crf", "\(crf)"), ("preset", "medium")]
        // Pixel formats that players support widely.
        video.append(("pixel_format", codec == "hevc" ? "yuv420p10le" : "yuv420p"))
        // HDR is tone-mapped, because 8 bits are insufficient for it.
        if codec == "h264" { video.append(("color", "sdr")) }
        // Sources are never enlarged. The box is rotated for portrait video.
        if let box { video += [("size", box), ("fit", "scale-down")] }
        // Without a bitrate, the AAC default depends on the channel count.
        let audio = [("codec", "aac")] + (audioBitRate.map { [("bitrate", $0)] } ?? [])
        return ExportPreset(
            name: name, summary: summary, containers: ["mp4", "mov", "mkv"],
            rules: [
                Rule(kind: "video", selection: "first", settings: video),
                Rule(kind: "audio", selection: "all", settings: audio),
            ])
    }

    private static func proResPreset(
        _ name: String, _ summary: String, _ profile: String, _ pixelFormat: String
    ) -> ExportPreset {
        ExportPreset(
            name: name, summary: "ProRes and PCM " + summary, containers: ["mov", "mkv"],
            rules: [
                Rule(
                    kind: "video", selection: "first",
                    settings: [("codec", "prores"), ("profile", profile), ("pixel_format", pixelFormat)]),
                Rule(kind: "audio", selection: "all", settings: [("codec", "pcm_s24le")]),
            ])
    }

    /// Returns whether the preset encodes tracks of a media type.
    package func encodes(_ type: MediaType) -> Bool {
        rules.contains { $0.kind == type.rawValue && $0.settings != nil }
    }

    /// Returns the rules as YAML, each line indented by `indent` spaces.
    package func yaml(indent: Int = 0) -> String {
        let space = String(repeating: " ", count: indent)
        return "\(space)tracks:\n"
            + rules.map { rule in
                "\(space)  - { \(rule.kind): \(rule.selection), optional: true, \(Rule.action(rule.settings)) }\n"
            }.joined()
    }

    /// Returns the rules as nodes, all located at the preset's name.
    func tracks(at location: SourceRange) -> YAMLNode {
        let range = location.with(
            context: SourceContext(
                .preset, "from the export preset `\(name)`", at: nil, after: location.context))
        func text(_ value: String) -> YAMLNode { YAMLNode(.scalar(value, .plain), at: range) }
        func mapping(_ entries: [(String, YAMLNode)]) -> YAMLNode {
            YAMLNode(
                .mapping(entries.map { YAMLNode.Entry(key: $0.0, keyRange: range, value: $0.1) }), at: range)
        }
        return YAMLNode(
            .sequence(
                rules.map { rule in
                    mapping(
                        [
                            (rule.kind, text(rule.selection)), ("optional", text("true")),
                            rule.settings.map { settings in
                                ("encode", mapping(settings.map { ($0.key, text($0.value)) }))
                            } ?? ("copy", text("true")),
                        ])
                }), at: range)
    }
}
