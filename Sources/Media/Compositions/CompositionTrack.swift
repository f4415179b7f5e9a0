public import LibAV

/// What lies on one track of a composition (AVFoundation's `AVCompositionTrack`): segments one after the other, without an overlap.
public struct CompositionTrack: Hashable, Sendable {
    /// A part of a source, or nothing, for some time (`AVCompositionTrackSegment`).
    public struct Segment: Hashable, Sendable {
        /// Where it stands.
        public let timeRange: TimeRange
        /// What of which source; nil of one that is empty.
        public let placement: ClipPlacement?

        /// Nothing is there.
        public var isEmpty: Bool { placement == nil }
    }

    /// What it is of.
    public let mediaType: MediaType
    /// As they stand, with what is empty between them.
    public let segments: [Segment]

    /// Where its last segment ends.
    public var end: MediaTime { segments.last?.timeRange.end ?? .zero }

    fileprivate init(_ mediaType: MediaType, _ placements: [ClipPlacement]) {
        self.mediaType = mediaType
        var segments: [Segment] = []
        var position = MediaTime.zero
        for placement in placements {
            let range = placement.timeRange
            if range.start > position {
                segments.append(
                    Segment(timeRange: TimeRange(start: position, end: range.start), placement: nil))
            }
            segments.append(Segment(timeRange: range, placement: placement))
            position = max(position, range.end)
        }
        self.segments = segments
    }
}

extension Composition {
    /// What lies where, as tracks: clips and runs of audio that overlap lie on several. Layers are above all of them, and no part of it.
    public var tracks: [CompositionTrack] {
        let video = lanes(of: clips.map(\.placement)).map { CompositionTrack(.video, $0) }
        let heard = lanes(of: audio.map(\.placement)).map { CompositionTrack(.audio, $0) }
        let cues = subtitles.flatMap { lanes(of: $0.clips) }.map { CompositionTrack(.subtitle, $0) }
        return video + heard + cues
    }

    /// Each on the first lane that is free when it begins.
    private func lanes(of placements: [ClipPlacement]) -> [[ClipPlacement]] {
        var lanes: [[ClipPlacement]] = []
        for placement in placements.sorted(by: { $0.timeRange.start < $1.timeRange.start }) {
            let free = lanes.firstIndex { lane in
                lane.last.map { $0.timeRange.end <= placement.timeRange.start } ?? true
            }
            if let free { lanes[free].append(placement) } else { lanes.append([placement]) }
        }
        return lanes
    }
}
