internal import LibAV

/// Joins the two fields of a frame into one packet; a field whose first one is missing is dropped. See `FieldPairs`.
final class FieldJoiner: PacketStage {
    private var pairs: FieldPairs
    /// A first field that waits for its second one.
    private var held: Packet?

    /// Nil unless the track may have fields in separate packets.
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
