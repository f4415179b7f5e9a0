internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// A job file for one source: what is there, encoded for the web, with what else could be said as comments.
struct JobFileTemplate {
    let path: String
    let source: SourceDescription

    var text: String {
        let video = source.tracks(of: .video)
        let audio = source.tracks(of: .audio)
        var lines = ["# Made by `tandem init`; `tandem plan` shows what it does, `tandem run` does it."]
        lines += [
            "version: 1", "", "assets:", "  source: \(assetText)",
            "", "jobs:", "  web:",
        ]
        lines.append("    asset: source            # \(about)")
        lines += option("range", "{ start: \"0:00\", end: end }", .job)
        lines.append("    tracks:")
        for track in source.tracks { lines += rule(track) }
        if video.isEmpty, audio.isEmpty {
            lines.append("      # Nothing in this file can be encoded by this version.")
        }
        if !source.chapters.isEmpty { lines += option("chapters", "drop", .job) }
        lines += option("metadata", "{ set: { title: \"…\" } }", .job)
        lines += option("leftover", "error", .job)
        if !video.isEmpty || audio.count > 1 { lines += ["    optimize_for_network: true"] }
        lines.append("    destination: \(Self.quoted("out/${asset.stem}-web.\(fileExtension)"))")
        return lines.joined(separator: "\n") + "\n"
    }

    private var fileExtension: String {
        source.tracks(of: .video).isEmpty && source.tracks(of: .audio).count <= 1 ? "m4a" : "mp4"
    }

    private var assetText: String {
        let text = Self.quoted(Self.literal(assetPath))
        return SourceLocation.isRemote(path) ? "{ url: \(text) }      # only with --allow-network" : text
    }

    /// A path has a `/` or a `.`; otherwise it would be an asset's id.
    private var assetPath: String { path.contains("/") || path.contains(".") ? path : "./" + path }

    private var about: String { "\(source.container), \(PlanText.time(source.duration))" }

    private func rule(_ track: SourceDescription.Track) -> [String] {
        let note = "# track \(track.index): \(LedgerText.name(track))"
        guard !track.isAttachedPicture, track.mediaType == .video || track.mediaType == .audio,
            track.isDecodable
        else { return ["      \(note); this version leaves it, and the plan says so"] }
        let kind = track.mediaType
        let position = source.tracks(of: kind).firstIndex { $0.index == track.index } ?? 0
        var lines = ["      - \(kind.rawValue): \(position)  \(note)"]
        if kind == .video {
            lines.append("        encode:")
            lines.append("          codec: h264")
            lines.append("          crf: 23              # \(summary("crf", .videoEncode))")
            lines.append("          preset: medium       # \(summary("preset", .videoEncode))")
            lines.append("          # size: x720         # \(summary("size", .videoEncode))")
            if track.isInterlaced {
                lines.append("          deinterlace: auto    # \(summary("deinterlace", .videoEncode))")
            }
        } else {
            lines.append("        encode:")
            lines.append("          codec: aac")
            lines.append("          bitrate: \((track.channelLayout?.channels ?? 2) > 2 ? "384k" : "128k")")
            lines.append("          # normalize: {}      # \(summary("normalize", .audioEncode))")
        }
        return lines
    }

    private func option(_ key: String, _ value: String, _ part: Language.Part) -> [String] {
        ["    # \(key): \(value)    # \(summary(key, part))"]
    }

    private func summary(_ key: String, _ part: Language.Part) -> String {
        Language.summary(of: key, in: part) ?? ""
    }

    /// The path for itself: neither a substitution nor a pattern.
    static func literal(_ path: String) -> String {
        path.replacing("${", with: "$${").map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined()
    }

    /// In double quotes; what would end them, begin a substitution by the path's own doing, or control a terminal is
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
