internal import LibAV

/// Joins the two fields of a frame into one packet; a second field without a first one is dropped. See `FieldPairs`.
final class FieldJoiner: PacketStage {
    private var pairs: FieldPairs
    /// The first field of a frame whose second field hasn't arrived.
    private var held: Packet?

    /// Returns nil unless the track may have fields in separate packets.
    init?(_ track: AssetTrack) {
        guard
            let pairs = FieldPairs(
                track.format.parameters, frameRate: track.nominalFrameRate, timeBase: track.timeBase)
        else { return nil }
        self.pairs = pairs
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        let role = pairs.take(packet)
        if let held = held.take() {
            if case .second(_, let length) = role {
                held.duration = length
                try held.append(packet)
                return try next(held)
            }
            try next(held)
        }
        if role == .torn { return }
        if pairs.isWaiting { held = consume packet } else { try next(packet) }
    }

    func finish(into next: (consuming Packet) throws -> Void) throws { try interrupt(into: next) }

    func interrupt(into next: (consuming Packet) throws -> Void) throws {
        if let held = held.take() { try next(held) }
    }

    func reset() {
        held = nil
        pairs.forget()
    }
}
