internal import LibAV

/// Schedules the starts of fragments, and holds back the last packet of each track until the next one determines its
/// duration.
///
/// libavformat starts a track's fragment at the sum of its packets' durations rather than at its first packet's time: a
/// gap in the audio or a variable frame rate would shift the start of every later fragment. In a file without
/// fragments, it uses the packets' times. By default, libavformat also ends a fragment as soon as any track reaches the
/// fragment duration, so that a subtitle event would split video between keyframes.
final class FragmentScheduler {
    private final class Track {
        let mediaType: MediaType
        var heldPacket: Packet?
        var length: Int64 = 0
        var end: Int64?
        var hasBegun: Bool

        init(_ mediaType: MediaType) {
            self.mediaType = mediaType
            // The muxer starts a subtitle track with an empty event.
            hasBegun = mediaType == .subtitle
        }
    }

    private let tracks: [Track]
    private let timeBases: [Rational]
    /// The track whose packets start fragments: the first video track, otherwise the first audio track.
    private let lead: Int
    private let interval: Int64
    private let setsDurations: Bool
    private let segmentStarts: SegmentStarts?
    private var begin: Int64?

    /// Boundaries of segments, which take precedence over the interval.
    struct SegmentStarts {
        let boundaries: SegmentBoundaries
        /// See `SegmentBoundaries.begins`.
        let isRegular: Bool
        /// Whether the first segment contains the first packet of each track, whose start the header stores.
        let waitsForAllTracks: Bool
    }

    /// Creates a scheduler. Without `setsDurations`, packets are not held back: for containers that store times.
    init(
        tracks: [(mediaType: MediaType, timeBase: Rational)], interval: MediaTime, setsDurations: Bool = true,
        segmentStarts: SegmentStarts? = nil
    ) {
        self.setsDurations = setsDurations
        self.segmentStarts = segmentStarts
        timeBases = tracks.map(\.timeBase)
        self.tracks = tracks.map { Track($0.mediaType) }
        lead = Self.lead(of: tracks.map(\.mediaType))
        self.interval = tracks.isEmpty ? 0 : interval.ticks(in: tracks[lead].timeBase)
    }

    /// Returns the track whose packets start fragments.
    static func lead(of types: [MediaType]) -> Int {
        types.firstIndex(of: .video) ?? types.firstIndex(of: .audio) ?? 0
    }

    /// Receives a packet with times of the output; returns the packet to write now, if any.
    func take(_ packet: consuming Packet, track index: Int) -> Packet? {
        let track = tracks[index]
        // Subtitle events have durations of their own and gaps between them.
        guard setsDurations, track.mediaType != .subtitle else { return packet }
        let time = packet.dts
        var earlier: Packet? = packet
        swap(&track.heldPacket, &earlier)
        guard let ready = earlier.take() else { return nil }
        setDuration(ready, of: track, until: time)
        return ready
    }

    /// Returns the next held packet after the end of the packets; nil if there are no more.
    func next() -> Packet? {
        for track in tracks {
            guard let packet = track.heldPacket.take() else { continue }
            setDuration(packet, of: track, until: nil)
            return packet
        }
        return nil
    }

    /// Sets a packet's duration to the distance to the next packet, and stores the packet's end.
    private func setDuration(_ packet: borrowing Packet, of track: Track, until time: Int64?) {
        let declared = packet.duration
        if let time, time > packet.dts { track.length = time - packet.dts }
        // The presentation of a packet may end before or after the next packet's decoding time.
        track.end = max(track.end ?? Int64.min, packet.pts + (declared > 0 ? declared : track.length))
        if time != nil || declared == 0 { packet.duration = track.length }
    }

    /// Returns whether a fragment starts with this packet, which must be written next. `isFinished` reports whether a
    /// track has ended.
    func begins(with packet: borrowing Packet, track index: Int, isFinished: (Int) -> Bool) -> Bool {
        let track = tracks[index]
        track.hasBegun = true
        guard index == lead else { return false }
        guard let begin else {
            begin = packet.dts
            _ = segmentStarts.map { begins(with: packet, $0) }
            return false
        }
        if let segmentStarts {
            guard packet.isKey,
                !segmentStarts.waitsForAllTracks
                    || tracks.indices.allSatisfy({ tracks[$0].hasBegun || isFinished($0) })
            else { return false }
            return begins(with: packet, segmentStarts)
        }
        let length = packet.dts - begin
        let canBegin = track.mediaType != .video || packet.isKey || length >= 2 * interval
        // The header stores the start of each track, so every track must have begun.
        guard length >= interval, canBegin,
            tracks.indices.allSatisfy({ tracks[$0].hasBegun || isFinished($0) })
        else { return false }
        self.begin = packet.dts
        return true
    }

    /// Returns whether a keyframe begins a segment. A time may be rounded; audio begins with the nearest packet.
    private func begins(with packet: borrowing Packet, _ starts: SegmentStarts) -> Bool {
        let timeBase = timeBases[lead]
        let slack = tracks[lead].mediaType == .audio ? max(1, packet.duration / 2) : 1
        return starts.boundaries.begins(
            at: MediaTime(ticks: packet.pts, timeBase: timeBase),
            tolerance: MediaTime(ticks: slack, timeBase: timeBase), isRegular: starts.isRegular)
    }

    /// Returns the end of a track's packets, in its time base; nil for a track without packets, and for subtitles.
    func end(of index: Int) -> Int64? { tracks[index].end }
}
