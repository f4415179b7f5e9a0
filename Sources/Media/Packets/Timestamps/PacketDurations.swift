internal import LibAV

/// Sets the duration of a movie's packet from the next packet's time: libavformat doesn't report it for fragmented
/// files and some others, and guesses it for reordered frames.
final class PacketDurations: PacketStage {
    private let track: AssetTrack
    /// The packet whose duration is determined by the next one.
    private var held: Packet?
    private var last: Int64 = 0

    init(_ track: AssetTrack) { self.track = track }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if let held = held.take() {
            if packet.dts != noTimestamp { last = max(0, packet.dts - held.dts) }
            held.duration = last
            try next(held)
        }
        // For reordered frames, libavformat derives the duration from the frame rate in the stream.
        if packet.duration == 0 || track.mediaType == .video, packet.dts != noTimestamp {
            held = consume packet
        } else {
            last = packet.duration
            try next(packet)
        }
    }

    /// Sets the duration of the last packet to that of the previous one, at most up to the track's end. The last packet of
    /// a data track extends to the track's end.
    func finish(into next: (consuming Packet) throws -> Void) throws {
        guard let held = held.take() else { return }
        if track.mediaType != .subtitle, held.pts != noTimestamp {
            let remaining = track.timeRange.end.ticks(in: track.timeBase) - held.pts
            let length = last > 0 ? last : held.duration
            held.duration = max(0, track.mediaType == .data ? remaining : min(length, remaining))
        }
        try next(held)
    }

    func interrupt(into next: (consuming Packet) throws -> Void) throws {
        if let held = held.take() { try next(held) }
    }

    func reset() {
        held = nil
        last = 0
    }
}
