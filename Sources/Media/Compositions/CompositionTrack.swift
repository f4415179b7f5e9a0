public import LibAV

/// A track of a composition (AVFoundation's `AVCompositionTrack`): consecutive segments without overlap.
public struct CompositionTrack: Hashable, Sendable {
    /// A part of a source, or a gap (`AVCompositionTrackSegment`).
    public struct Segment: Hashable, Sendable {
        /// Range on the composition's time line.
        public let timeRange: TimeRange
        /// The presented part of a source; nil for a gap.
        public let placement: ClipPlacement?

        /// Whether the segment is a gap (`AVCompositionTrackSegment.isEmpty`).
        public var isEmpty: Bool { placement == nil }
    }

    /// Media type: video, audio or subtitle.
    public let mediaType: MediaType
    /// Segments in order, with the gaps between them.
    public let segments: [Segment]

    /// End of the last segment; zero without segments.
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
    /// Tracks of clips, audio items and subtitles; layers are not included. Overlapping items are on different tracks.
    public var tracks: [CompositionTrack] {
        let video = assignedTracks(of: clips.map(\.placement)).map { CompositionTrack(.video, $0) }
        let audioTracks = assignedTracks(of: audio.map(\.placement)).map { CompositionTrack(.audio, $0) }
        let cues = subtitles.flatMap { assignedTracks(of: $0.clips) }.map { CompositionTrack(.subtitle, $0) }
        return video + audioTracks + cues
    }

    /// Assigns each placement to the first track that is free at its start.
    private func assignedTracks(of placements: [ClipPlacement]) -> [[ClipPlacement]] {
        var rows: [[ClipPlacement]] = []
        for placement in placements.sorted(by: { $0.timeRange.start < $1.timeRange.start }) {
            let free = rows.firstIndex { row in
                row.last.map { $0.timeRange.end <= placement.timeRange.start } ?? true
            }
            if let free { rows[free].append(placement) } else { rows.append([placement]) }
        }
        return rows
    }
}
