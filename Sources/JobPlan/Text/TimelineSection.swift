internal import Media

/// A section of a composition's time line, for a drawing of it.
package struct TimelineSection: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Sendable {
        /// Frames of a clip.
        case clip
        /// Packets of a clip that are copied.
        case copied
        /// Frames, text or subtitles above the clips.
        case layer
        /// An audio item.
        case audio
    }
    package var kind: Kind
    /// Index among the items of its kind, as in the plan's lines.
    package var index: Int
    /// Name of the source, or the text.
    package var name: String
    /// Start in seconds.
    package var start: Double
    /// End in seconds.
    package var end: Double

    /// Maximum number of sections in a drawing.
    package static let most = 600
}

extension OutputTask {
    /// Sections of the time line if a composition is read; empty otherwise.
    package var timeline: [TimelineSection] {
        guard case .composition(let composition, _) = input.source else { return [] }
        var found: [TimelineSection] = []
        func add(_ kind: TimelineSection.Kind, _ index: Int, _ name: String, _ range: TimeRange) {
            guard found.count < TimelineSection.most else { return }
            found.append(
                TimelineSection(
                    kind: kind, index: index, name: name, start: range.start.seconds, end: range.end.seconds))
        }
        for (index, clip) in composition.clips.enumerated() {
            add(.clip, index, composition.shortName(of: clip.placement.source), clip.placement.timeRange)
        }
        for case .smartCut(let cut) in output.tracks.map(\.action) {
            for part in cut.parts {
                guard let clip = part.clip, let position = part.position, part.copiedFrames > 0 else {
                    continue
                }
                let start = MediaTime(ticks: position + part.copyStart - part.start, timeBase: cut.tick)
                let end = MediaTime(ticks: position + part.copyEnd - part.start, timeBase: cut.tick)
                add(.copied, clip, "copied", TimeRange(start: start, end: end))
            }
        }
        for (index, layer) in composition.layers.enumerated() {
            let name =
                switch layer.content {
                case .frames(let placement, _, _): composition.shortName(of: placement.source)
                case .text(let text): "“\(text.text.prefix(40))”"
                case .subtitles(let cues): "subtitles of \(composition.shortName(of: cues.source))"
                }
            add(.layer, index, name, layer.timeRange)
        }
        for (index, clip) in composition.audio.enumerated() {
            add(.audio, index, composition.shortName(of: clip.placement.source), clip.placement.timeRange)
        }
        return found
    }
}
