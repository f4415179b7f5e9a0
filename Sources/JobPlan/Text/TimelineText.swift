internal import LibAV
internal import Media

/// The text form of a composition's time line for the user.
enum TimelineText {
    /// Returns a line for each clip, layer and audio item, with its position and action. `cut`: the copy of the
    /// frames; nil if they are encoded. `copiesAudio`: audio packets are copied too.
    static func lines(_ composition: Composition, cut: SmartCut?, copiesAudio: Bool) -> [String] {
        var lines: [String] = []
        let copied = cut.map { copies(of: $0) }
        func span(_ range: TimeRange) -> String {
            "\(PlanText.pad(PlanText.time(range.start), 9)) to \(PlanText.pad(PlanText.time(range.end), 9))"
        }
        func described(_ placement: ClipPlacement) -> String {
            let range = placement.sourceRange
            return "\(composition.shortName(of: placement.source)), \(range.start) s to \(range.end) s"
        }
        func speed(_ placement: ClipPlacement) -> String {
            placement.sourceRange.duration == placement.timeRange.duration
                ? ""
                : ", speed \(rounded(placement.sourceRange.duration.seconds / placement.timeRange.duration.seconds))"
        }
        if let canvas = composition.canvas {
            lines.append(
                "  frames     \(canvas.size), \(canvas.frameRate) frames/s, \(canvas.pixelFormat)\(canvas.color.isHighRange ? ", HDR" : "")"
            )
        }
        if let format = composition.audioFormat {
            lines.append("  audio      \(format.sampleRate) Hz, \(format.layout)")
        }
        for (index, clip) in composition.clips.enumerated() {
            let before = index > 0 ? composition.clips[index - 1].placement.timeRange.end : .zero
            let range = clip.placement.timeRange
            let join =
                index > 0 && range.start < before
                ? ", \(clip.join.rawValue) over \(before - range.start) s" : ""
            lines.append(
                "  clip \(PlanText.pad("\(index)", 5)) \(span(range)) \(described(clip.placement))\(speed(clip.placement))\(join)\(outcome(of: index, clip.settings, copied))"
            )
        }
        for (index, layer) in composition.layers.enumerated() {
            let what =
                switch layer.content {
                case .frames(let placement, let position, _):
                    "\(described(placement)), \(position.width)x\(position.height) at \(position.x),\(position.y)"
                case .text(let text): "text `\(text.text.prefix(60))`"
                case .subtitles(let cues):
                    "subtitles of \(composition.shortName(of: cues.source)), track \(cues.track)"
                }
            let turned =
                layer.rotation == 0 ? "" : ", rotated by \(ThousandthsText.text(layer.rotation)) degrees"
            lines.append(
                "  layer \(PlanText.pad("\(index)", 4)) \(span(layer.timeRange)) \(what)\(turned)")
        }
        for (index, clip) in composition.audio.enumerated() {
            let loop = clip.isRepeated ? ", repeated" : ""
            let duck = clip.ducking.map { ", ducked under audio \($0.under)" } ?? ""
            lines.append(
                "  audio \(PlanText.pad("\(index)", 4)) \(span(clip.placement.timeRange)) \(described(clip.placement))\(clip.isRepeated ? "" : speed(clip.placement))\(loop)\(duck)\(copiesAudio ? "; copied" : "")"
            )
        }
        for (index, track) in composition.subtitles.enumerated() {
            for clip in track.clips {
                lines.append(
                    "  subtitle \(PlanText.pad("\(index)", 1)) \(span(clip.timeRange)) \(described(clip))\(speed(clip))\(track.language.map { ", \($0)" } ?? "")"
                )
            }
        }
        return lines
    }

    private static func rounded(_ value: Double) -> String {
        ThousandthsText.text(Int((value * 1000).rounded()))
    }

    /// Returns the numbers of copied frames and of re-encoded edge frames, by clip index.
    private static func copies(of cut: SmartCut) -> [Int: (copied: Int, encoded: Int)] {
        var found: [Int: (copied: Int, encoded: Int)] = [:]
        for part in cut.parts {
            guard let clip = part.clip else { continue }
            found[clip, default: (0, 0)].copied += part.copiedFrames
            found[clip, default: (0, 0)].encoded += part.headFrames + part.tailFrames
        }
        return found
    }

    private static func outcome(
        of clip: Int, _ settings: VideoOutputSettings, _ copies: [Int: (copied: Int, encoded: Int)]?
    ) -> String {
        guard let copies else { return changes(settings) }
        guard let own = copies[clip] else {
            return "; re-encoded" + changes(settings).replacing("; ", with: ", ")
        }
        if own.copied == 0 { return "; re-encoded" }
        return own.encoded == 0
            ? "; copied" : "; \(own.copied) frames copied, \(own.encoded) at its edges re-encoded"
    }

    /// Returns the changes of a clip's frames for the canvas.
    private static func changes(_ settings: VideoOutputSettings) -> String {
        var parts: [String] = []
        if settings.deinterlacing != .off { parts.append("deinterlaced") }
        if let turn = settings.turn { parts.append("rotated by \(turn.clockwiseDegrees) degrees") }
        if let inner = settings.innerSize, inner != settings.size {
            parts.append(settings.fit == .cover ? "cropped to fill" : "scaled to \(inner) with bars")
        }
        if settings.mapsTones {
            parts.append("tone-mapped")
        } else if settings.color != nil {
            parts.append("colors converted")
        }
        return parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")
    }
}
