internal import LibAV

/// Subtitle events of a composition's clips, on its time line, in order of their start. A source is opened when its
/// clip begins, and closed after its last event. Confined to one queue.
final class ComposedCues: CueSource {
    private let clips: [ClipPlacement]
    private let opener: CompositionOpener
    /// Number of clips that were opened.
    private var opened = 0
    private var open: [Clip] = []
    var damage: DamageTally { opener.damage }

    /// Creates a source of the events that are on screen at `start`, and of later ones.
    init(_ track: SubtitleTrack, from start: MediaTime, opener: CompositionOpener) {
        clips = track.clips.filter { $0.timeRange.end > start }
        self.opener = opener
    }

    /// Reader of a clip's events; the next event is read ahead.
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

        /// Returns the event that was read ahead, and reads the next one.
        func take() throws -> Packet? {
            let taken = cue.take()
            try advance()
            return taken
        }

        private func advance() throws {
            while let sample = try read.next() {
                let begin = sample.presentationTime
                // An event without a duration is shown for 5 s, as players do.
                let length =
                    sample.duration > 0
                    ? MediaTime(ticks: sample.duration, timeBase: sample.timeBase)
                    : MediaTime(value: 5, timescale: 1)
                // With a single range, samples have times on the source's time line.
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
        // A clip may begin before the previous clip's last event ends.
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
