internal import Diagnostics
package import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// A job file for one source: its tracks, encoded with settings that all players support, with other settings
/// as comments.
package struct JobFileTemplate {
    let path: String
    let source: SourceDescription
    /// Reasons why tracks get no rule, by track index.
    var omitted: [Int: String] = [:]
    /// Consequences for tracks without a rule, by track index.
    var unruled: [Int: String] = [:]
    /// Path of the JSON Schema, for editors.
    var schema: String?

    /// Creates a template. `schema` is the path of the JSON Schema, for editors.
    package init(path: String, source: SourceDescription, schema: String?) {
        self.path = path
        self.source = source
        self.schema = schema
    }

    /// Returns the file's text, and the ranges of lines that belong to a track, by track index.
    func render(isTrial: Bool = false) -> (text: String, tracks: [(lines: Range<Int>, index: Int)]) {
        let video = source.tracks(of: .video)
        let audio = source.tracks(of: .audio)
        var lines = [
            "# yaml-language-server: $schema=\(schema ?? "tandem-v1.schema.json")"
                + (schema == nil ? " (made by `tandem schema`)" : ""),
            "# Made by `tandem init`; `tandem plan` shows what it does, `tandem run` does it.",
            "version: 1", "", "assets:", "  source: \(assetText)",
            "", "jobs:", "  web:",
        ]
        lines.append("    asset: source            # \(about)")
        lines += option("range", "{ start: \"0:00\", end: end }", .job)
        lines.append("    tracks:")
        var places: [(lines: Range<Int>, index: Int)] = []
        for track in source.tracks {
            let first = lines.count + 1
            lines += rule(track)
            places.append((first..<(lines.count + 1), track.index))
        }
        if !source.chapters.isEmpty { lines += option("chapters", "drop", .job) }
        lines += option("metadata", "{ set: { title: \"…\" } }", .job)
        lines += option("leftover", "error", .job)
        if !video.isEmpty || audio.count > 1 { lines += ["    optimize_for_network: true"] }
        let destination = Self.quoted("out/${asset.stem}-web.\(fileExtension)")
        lines.append(
            "    destination: \(isTrial ? "{ path: \(destination), if_exists: replace }" : destination)")
        return (lines.joined(separator: "\n") + "\n", places)
    }

    /// Whether any track has a rule.
    var isOfUse: Bool { source.tracks.contains { plays($0) && omitted[$0.index] == nil } }

    /// Returns whether a track is video or audio that this build can decode.
    private func plays(_ track: TrackDescription) -> Bool {
        !track.isAttachedPicture && [.video, .audio].contains(track.mediaType) && track.isDecodable
    }

    private var fileExtension: String {
        source.tracks(of: .video).isEmpty && source.tracks(of: .audio).count <= 1 ? "m4a" : "mp4"
    }

    private var assetText: String {
        let text = Self.quoted(Self.literal(assetPath))
        return SourceLocation.isRemote(path) ? "{ url: \(text) }      # only with --allow-network" : text
    }

    /// Path of the asset. Without a `/` or a `.`, it would be parsed as an asset's id.
    private var assetPath: String { path.contains("/") || path.contains(".") ? path : "./" + path }

    private var about: String { "\(source.container), \(PlanText.time(source.duration))" }

    /// Text subtitle codec that the container supports; nil if there is none.
    private var cues: SubtitleCodec? {
        let container = ContainerType.named(fileExtension)
        return SubtitleCodec.allCases.first { container?.canHold(codec: $0.libavName) == true }
    }

    private func rule(_ track: TrackDescription) -> [String] {
        let note = "# track \(track.index): \(LedgerText.name(track))"
        if let why = omitted[track.index] { return ["      \(note); it has no rule: \(why)"] }
        let kind = track.mediaType
        let position = source.tracks(of: kind).firstIndex { $0.index == track.index } ?? 0
        let head = "      - \(kind.rawValue): \(position)  \(note)"
        if plays(track) { return [head, "        encode:"] + (kind == .video ? video(track) : audio(track)) }
        if kind == .subtitle, let codec = cues, SubtitleCodec.canConvert(from: track.codec) {
            return track.codec == codec.libavName
                ? [head, "        copy: true"]
                : [
                    head,
                    "        encode: { codec: \(codec.rawValue) }    # as text that \(fileExtension) holds",
                ]
        }
        if kind == .subtitle {
            return [
                "      \(note); \(fileExtension) holds no bitmaps: `container: mkv` and `copy: true` keep it"
            ]
        }
        if !track.isAttachedPicture, kind == .video || kind == .audio {
            return ["      \(note); this build of FFmpeg can't decode it"]
        }
        return ["      \(note); \(unruled[track.index] ?? "it is left")"]
    }

    private func video(_ track: TrackDescription) -> [String] {
        var lines = [
            "          codec: h264",
            "          crf: 23              # \(summary("crf", .videoEncode))",
            "          preset: medium       # \(summary("preset", .videoEncode))",
            "          # size: x720         # \(summary("size", .videoEncode))",
        ]
        if !["yuv420p", "yuvj420p"].contains("\(track.pixelFormat)"), !track.color.isHighRange {
            lines.append(
                "          pixel_format: yuv420p    # the source has \(track.pixelFormat), which many players don't play as H.264"
            )
        }
        if track.color.isHighRange, let transfer = track.color.transfer {
            lines.append(
                "          color: sdr           # the source is HDR (\(transfer)), which few players show as H.264"
            )
        }
        if track.isInterlaced {
            lines.append("          deinterlace: auto    # \(summary("deinterlace", .videoEncode))")
        }
        return lines
    }

    private func audio(_ track: TrackDescription) -> [String] {
        var lines = ["          codec: aac"]
        let channels = track.channelLayout?.channels ?? 2
        // The default rate applies if AAC can't reach this one at the track's sample rate.
        let rate = channels > 2 ? 384 : 64 * channels
        lines.append(
            track.sampleRate >= 32_000
                ? "          bitrate: \(rate)k"
                : "          # bitrate: \(rate)k       # \(summary("bitrate", .audioEncode))")
        lines.append("          # normalize: -16     # \(summary("normalize", .audioEncode))")
        return lines
    }

    private func option(_ key: String, _ value: String, _ part: Language.Part) -> [String] {
        ["    # \(key): \(value)    # \(summary(key, part))"]
    }

    private func summary(_ key: String, _ part: Language.Part) -> String {
        Language.summary(of: key, in: part) ?? ""
    }

    /// Returns a path in which `${` and pattern characters are escaped.
    static func literal(_ path: String) -> String {
        path.replacing("${", with: "$${").map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined()
    }

    /// Returns a text in double quotes. Quotes, variables of the text itself and control characters are
    /// escaped.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case _ where SafeText.isHidden(scalar):
                let digits = String(scalar.value, radix: 16)
                result += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
