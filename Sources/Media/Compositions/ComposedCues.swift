internal import LibAV

/// Cues of a composition's clips, on its time line, as they begin. A source is opened when its clip's time comes, and closed with its last
/// cue. Confined to one queue.
final class ComposedCues: CueSource {
    private let clips: [ClipPlacement]
    private let opener: CompositionOpener
    /// Clips that were opened.
    private var opened = 0
    private var open: [Clip] = []
    var damage: DamageTally { opener.damage }

    /// Cues that are on screen at `start`, and what follows.
    init(_ track: SubtitleTrack, from start: MediaTime, opener: CompositionOpener) {
        clips = track.clips.filter { $0.timeRange.end > start }
        self.opener = opener
    }

    /// A clip's cues, of which the first one is at hand.
    private final class Clip {
        private let placement: ClipPlacement
        private let read: CompositionRead
        private var cue: Packet?
        private(set) var start: Int64 = 0

        init(_ placement: ClipPlacement, _ opener: CompositionOpener) throws {
            self.placement = placement
            var extent = ReadingExtent()
            extent.ranges = [placement.sourceRange]
            read = try opener.read(placement, as: .subtitle(SubtitleTrack.codec), extent)
            try advance()
        }

        var hasEnded: Bool { cue == nil }

        /// The cue at hand; the next one is there after it.
        func take() throws -> Packet? {
            let taken = cue.take()
            try advance()
            return taken
        }

        private func advance() throws {
            while let sample = try read.next() {
                let begin = sample.presentationTime
                // One that doesn't say how long it is shown stays for some time, as players have it.
                let length =
                    sample.duration > 0
                    ? MediaTime(ticks: sample.duration, timeBase: sample.timeBase)
                    : MediaTime(value: 5, timescale: 1)
                // One range is read on the source's own time line.
                let from = max(placement.time(ofSource: begin), placement.timeRange.start)
                let to = min(placement.time(ofSource: begin + length), placement.timeRange.end)
                let (pts, end) = (
                    from.ticks(in: SubtitleTrack.timeBase), to.ticks(in: SubtitleTrack.timeBase)
                )
                guard pts < end, let packet = sample.takePacket() else { continue }
                (packet.pts, packet.dts, packet.duration) = (pts, pts, end - pts)
                cue = consume packet
                start = pts
                return
            }
        }

    }

    func next() throws -> Packet? {
        // A clip may have begun before the last one's cues are over.
        while opened < clips.count {
            let earliest = open.lazy.map(\.start).min()
            guard
                earliest.map({ clips[opened].timeRange.start.ticks(in: SubtitleTrack.timeBase) <= $0 })
                    ?? true
            else { break }
            let clip = try Clip(clips[opened], opener)
            opened += 1
            if !clip.hasEnded { open.append(clip) }
        }
        guard let first = open.indices.min(by: { open[$0].start < open[$1].start }) else { return nil }
        let cue = try open[first].take()
        if open[first].hasEnded { open.remove(at: first) }
        return cue
    }
}
