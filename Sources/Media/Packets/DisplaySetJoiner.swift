internal import LibAV

/// Joins the segments of a PGS display set, which some demuxers return as separate packets, into one packet (libavcodec's
/// `pgs_frame_merge`). A set without its end is joined with the next segments, up to a limit.
final class DisplaySetJoiner: PacketStage {
    private var held: Packet?

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        let isComplete = packet.withBytes(PGSDisplay.endsSet)
        guard let set = held.take() else {
            if isComplete { return try next(packet) }
            held = consume packet
            return
        }
        guard set.size + packet.size <= DisplaySetLimit.bytes else {
            try next(set)
            return try next(packet)
        }
        try set.append(packet)
        if isComplete { try next(set) } else { held = consume set }
    }

    func finish(into next: (consuming Packet) throws -> Void) throws { try interrupt(into: next) }

    func interrupt(into next: (consuming Packet) throws -> Void) throws {
        if let set = held.take() { try next(set) }
    }

    func reset() { held = nil }
}
