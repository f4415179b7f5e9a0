internal import LibAV

/// Drops packets after a seek until the first keyframe: in a transport stream, packets before it depend on frames, and
/// possibly parameter sets, that weren't read.
final class KeyFrameGate: PacketStage {
    private(set) var isClosed = false

    /// Drops all packets before the next keyframe.
    func close() { isClosed = true }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if isClosed, !packet.isKey { return }
        isClosed = false
        try next(packet)
    }

    func reset() { isClosed = false }
}
