internal import Media

/// Something that stands on a composition's time line, for a drawing of it.
package struct TimelineStretch: Codable, Hashable, Sendable {
    /// What it is.
    package enum Kind: String, Codable, Sendable {
        /// Frames of a clip.
        case clip
        /// Packets of a clip that are taken as they are.
        case copied
        /// Frames, text or cues above them.
        case layer
        /// A run of audio.
        case audio
    }
    /// What it is.
    package var kind: Kind
    /// Its place among those of its kind, from the plan's lines.
    package var index: Int
    /// What it is made of.
    package var name: String
    /// When it begins, in seconds.
    package var start: Double
    /// When it ends.
    package var end: Double

    /// As many as a person looks through.
    package static let most = 600
}

extension OutputTask {
    /// What stands on the time line where a composition is read; empty otherwise.
    package var timeline: [TimelineStretch] {
        guard case .composition(let composition, _) = input.source else { return [] }
        var found: [TimelineStretch] = []
        func add(_ kind: TimelineStretch.Kind, _ index: Int, _ name: String, _ range: TimeRange) {
            guard found.count < TimelineStretch.most else { return }
            found.append(
                TimelineStretch(
                    kind: kind, index: index, name: name, start: range.start.seconds, end: range.end.seconds))
        }
        for (index, clip) in composition.clips.enumerated() {
            add(.clip, index, composition.shortName(of: clip.placement.source), clip.placement.timeRange)
        }
        for case .smartCut(let cut) in output.tracks.map(\.action) {
            for part in cut.parts {
                guard let clip = part.clip, let place = part.place, part.copiedPictures > 0 else { continue }
                let start = MediaTime(ticks: place + part.copyStart - part.start, timeBase: cut.tick)
                let end = MediaTime(ticks: place + part.copyEnd - part.start, timeBase: cut.tick)
                add(.copied, clip, "copied", TimeRange(start: start, end: end))
            }
        }
        for (index, layer) in composition.layers.enumerated() {
            let name =
                switch layer.content {
                case .frames(let placement, _, _): composition.shortName(of: placement.source)
                case .text(let text): "“\(text.text.prefix(40))”"
                case .subtitles(let cues): "cues of \(composition.shortName(of: cues.source))"
                }
            add(.layer, index, name, layer.timeRange)
        }
        for (index, clip) in composition.audio.enumerated() {
            add(.audio, index, composition.shortName(of: clip.placement.source), clip.placement.timeRange)
        }
        return found
    }
}
