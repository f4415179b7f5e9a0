internal import LibAV

/// A packet of a movie lasts until the next one: libavformat doesn't say it of fragmented ones and some others, and guesses where
/// frames are reordered.
final class PacketDurations: PacketStage {
    private let track: AssetTrack
    /// The packet whose duration the next one tells.
    private var held: Packet?
    private var last: Int64 = 0

    init(_ track: AssetTrack) { self.track = track }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if let held = held.take() {
            if packet.dts != noTimestamp { last = max(0, packet.dts - held.dts) }
            held.duration = last
            try next(held)
        }
        // Where frames are reordered, libavformat has it from the rate that the stream claims.
        if packet.duration == 0 || track.mediaType == .video, packet.dts != noTimestamp {
            held = consume packet
        } else {
            last = packet.duration
            try next(packet)
        }
    }

    /// The last one lasts no longer than the one before it, nor than its track.
    func finish(into next: (consuming Packet) throws -> Void) throws {
        guard let held = held.take() else { return }
        if track.mediaType != .subtitle, held.pts != noTimestamp {
            let left = track.timeRange.end.ticks(in: track.timeBase) - held.pts
            let length = last > 0 ? last : held.duration
            held.duration = max(0, track.mediaType == .data ? left : min(length, left))
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
