internal import LibAV

/// Keeps back the last packet of each track of pictures or sound until the next one says how long it lasts.
///
/// libavformat begins a fragment of a track where the lengths of its packets so far end, not where its first packet
/// says: a hole in the sound or a variable rate would move the first packet of every fragment. In a file of one piece
/// the times alone count.
final class FragmentPacer {
    private final class Track {
        let isPaced: Bool
        var kept: Packet?
        var end: Int64?

        init(isPaced: Bool) { self.isPaced = isPaced }
    }

    private let tracks: [Track]

    init(tracks: [MediaType]) {
        self.tracks = tracks.map { Track(isPaced: $0 != .subtitle) }
    }

    /// Takes a packet whose times are the output's; gives the one to write now, if any.
    func take(_ packet: consuming Packet, track index: Int) -> Packet? {
        let track = tracks[index]
        // Between cues there is nothing: how long one lasts, it says itself.
        guard track.isPaced else { return packet }
        track.end = max(track.end ?? Int64.min, packet.pts + packet.duration)
        let time = packet.dts
        var earlier: Packet? = packet
        swap(&track.kept, &earlier)
        guard let ready = earlier.take() else { return nil }
        if time > ready.dts { ready.duration = time - ready.dts }
        return ready
    }

    /// What was kept back, track after track, once nothing more comes.
    func next() -> Packet? {
        for track in tracks {
            if let packet = track.kept.take() { return packet }
        }
        return nil
    }

    /// Where what was taken of a track ends, in its unit; nil where nothing came, or where cues say it.
    func end(of index: Int) -> Int64? { tracks[index].end }
}
