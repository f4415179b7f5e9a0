internal import LibAV

/// Behind a seek the first packet is a key frame: what a transport stream has before it belongs to frames, and maybe to
/// parameter sets, that weren't read.
final class KeyFrameGate: PacketStage {
    private(set) var isClosed = false

    /// Lets nothing through before the next key frame.
    func close() { isClosed = true }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if isClosed, !packet.isKey { return }
        isClosed = false
        try next(packet)
    }

    func reset() { isClosed = false }
}
