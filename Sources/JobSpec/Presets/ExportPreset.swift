internal import Diagnostics
internal import YAMLDocument

/// A name for how all of a source is exported (AVFoundation's `AVAssetExportSession` presets): rules for its tracks, whose
/// settings depend on the source where they can.
public struct ExportPreset: Sendable {
    /// A rule of it.
    package struct Rule: Sendable {
        /// The kind of track, as the language names it.
        package let kind: String
        /// Which of them.
        package let selection: String
        /// How they are compressed; nil where they are copied.
        package let settings: [(key: String, value: String)]?

        /// The part of a rule that says what is done, as a job file has it.
        package static func action(_ settings: [(key: String, value: String)]?) -> String {
            guard let settings else { return "copy: true" }
            return "encode: { \(settings.map { "\($0.key): \($0.value)" }.joined(separator: ", ")) }"
        }
    }

    /// The name in job files.
    public let name: String
    /// What it makes, in a sentence.
    public let summary: String
    /// Containers for it, the usual one first.
    public let containers: [String]
    /// Its rules in output order; each takes what the source has.
    package let rules: [Rule]

    /// The preset of that name.
    public static func named(_ name: String) -> ExportPreset? { all.first { $0.name == name } }

    /// Their names.
    public static let names = all.map(\.name)

    /// All of them, in the order in which they are listed.
    public static let all: [ExportPreset] =
        [
            pictures(
                "low", "small files for a preview", codec: "h264", crf: 28, box: "640x360", sound: "64k"),
            pictures("medium", "for the web", codec: "h264", crf: 23, box: "1280x720", sound: "128k"),
            pictures(
                "highest", "high-quality H.264 in the source's size", codec: "h264", crf: 17, box: nil
            ),
        ]
        + ["640x480", "960x540", "1280x720", "1920x1080", "3840x2160"].map {
            pictures($0, "H.264 of at most that size", codec: "h264", crf: 20, box: $0)
        }
        + [pictures("hevc-highest", "HEVC in the source's size", codec: "hevc", crf: 19, box: nil)]
        + ["1920x1080", "3840x2160"].map {
            pictures("hevc-" + $0, "HEVC of at most that size", codec: "hevc", crf: 22, box: $0)
        }
        + [
            master("prores-422", "for editing, without alpha", "standard", "yuv422p10le"),
            master("prores-4444", "for editing, with alpha", "4444", "yuva444p10le"),
            ExportPreset(
                name: "m4a", summary: "the audio alone, as AAC", containers: ["m4a", "mp4", "mov"],
                rules: [Rule(kind: "audio", selection: "all", settings: [("codec", "aac")])]),
            ExportPreset(
                name: "passthrough", summary: "video, audio and subtitles as they are",
                containers: ["mp4", "mov", "mkv"],
                rules: ["video", "audio", "subtitle"].map { Rule(kind: $0, selection: "all", settings: nil) }),
        ]

    private static func pictures(
        _ name: String, _ summary: String, codec: String, crf: Int, box: String?, sound: String? = nil
    ) -> ExportPreset {
        var video = [("codec", codec), ("crf", "\(crf)"), ("preset", "medium")]
        // What players play.
        video.append(("pixel_format", codec == "hevc" ? "yuv420p10le" : "yuv420p"))
        // Eight bits are too few for a high dynamic range.
        if codec == "h264" { video.append(("color", "sdr")) }
        // Never enlarged, and turned with frames that stand.
        if let box { video += [("size", box), ("fit", "scale-down")] }
        // Without a bit rate, AAC takes what the channels need.
        let audio = [("codec", "aac")] + (sound.map { [("bitrate", $0)] } ?? [])
        return ExportPreset(
            name: name, summary: summary, containers: ["mp4", "mov", "mkv"],
            rules: [
                Rule(kind: "video", selection: "first", settings: video),
                Rule(kind: "audio", selection: "all", settings: audio),
            ])
    }

    private static func master(
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

    /// The rules as a job file has them, each line after that many spaces.
    package func yaml(indent: Int = 0) -> String {
        let space = String(repeating: " ", count: indent)
        return "\(space)tracks:\n"
            + rules.map { rule in
                "\(space)  - { \(rule.kind): \(rule.selection), optional: true, \(Rule.action(rule.settings)) }\n"
            }.joined()
    }

    /// The rules as nodes that stand where the preset is named.
    func tracks(at place: SourceRange) -> YAMLNode {
        let range = place.with(
            context: SourceContext(
                .preset, "the export preset `\(name)` says it", at: nil, after: place.context))
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
