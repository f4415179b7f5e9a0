internal import LibAV

/// Decides where fragments begin, and keeps back the last packet of each track until the next one says how long it
/// lasts.
///
/// libavformat begins a fragment of a track where the lengths of its packets so far end, not where its first packet
/// says: a hole in the audio or a variable rate would move the first packet of every fragment. In a file of one piece
/// the times alone count. By itself it also ends a fragment wherever any track has come far enough, so that a rare cue
/// would cut frames between key frames.
final class FragmentScheduler {
    private final class Track {
        let mediaType: MediaType
        var kept: Packet?
        var length: Int64 = 0
        var end: Int64?
        var hasBegun: Bool

        init(_ mediaType: MediaType) {
            self.mediaType = mediaType
            // The muxer begins a track of cues with an empty one by itself.
            hasBegun = mediaType == .subtitle
        }
    }

    private let tracks: [Track]
    /// The track whose packets begin fragments: the first of frames, or of audio.
    private let lead: Int
    private let interval: Int64
    private var begin: Int64?

    init(tracks: [(mediaType: MediaType, timeBase: Rational)], interval: MediaTime) {
        self.tracks = tracks.map { Track($0.mediaType) }
        lead =
            tracks.firstIndex { $0.mediaType == .video } ?? tracks.firstIndex { $0.mediaType == .audio } ?? 0
        self.interval = tracks.isEmpty ? 0 : interval.ticks(in: tracks[lead].timeBase)
    }

    /// Takes a packet whose times are the output's; gives the one to write now, if any.
    func take(_ packet: consuming Packet, track index: Int) -> Packet? {
        let track = tracks[index]
        // Between cues there is nothing: how long one lasts, it says itself.
        guard track.mediaType != .subtitle else { return packet }
        let time = packet.dts
        var earlier: Packet? = packet
        swap(&track.kept, &earlier)
        guard let ready = earlier.take() else { return nil }
        settle(ready, of: track, until: time)
        return ready
    }

    /// What was kept back, track after track, once nothing more comes.
    func next() -> Packet? {
        for track in tracks {
            guard let packet = track.kept.take() else { continue }
            settle(packet, of: track, until: nil)
            return packet
        }
        return nil
    }

    /// Tells how long a packet is, and remembers where it ends.
    private func settle(_ packet: borrowing Packet, of track: Track, until time: Int64?) {
        let said = packet.duration
        if let time, time > packet.dts { track.length = time - packet.dts }
        // What a packet shows may be less or more than the time to the next one.
        track.end = max(track.end ?? Int64.min, packet.pts + (said > 0 ? said : track.length))
        if time != nil || said == 0 { packet.duration = track.length }
    }

    /// A fragment begins with this packet, which is written next. `isFinished` tells of tracks that nothing comes of.
    func begins(with packet: borrowing Packet, track index: Int, isFinished: (Int) -> Bool) -> Bool {
        let track = tracks[index]
        track.hasBegun = true
        guard index == lead else { return false }
        guard let begin else {
            begin = packet.dts
            return false
        }
        let length = packet.dts - begin
        let canBegin = track.mediaType != .video || packet.isKey || length >= 2 * interval
        // The header tells where each track begins.
        guard length >= interval, canBegin,
            tracks.indices.allSatisfy({ tracks[$0].hasBegun || isFinished($0) })
        else { return false }
        self.begin = packet.dts
        return true
    }

    /// Where what was taken of a track ends, in its unit; nil where nothing came, or where cues say it.
    func end(of index: Int) -> Int64? { tracks[index].end }
}
