internal import LibAV

/// A step that processes a track's packets after the demuxer or before the muxer. Stages implement requirements of a
/// codec or a container, and are selected when the reader or the writer is opened. Confined to one queue.
protocol PacketStage: AnyObject {
    /// Returns the codec parameters of the output packets, for the muxer.
    func parameters(of input: CodecParameters) throws -> CodecParameters
    /// Processes a packet, and passes the resulting packets to `next`.
    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws
    /// Signals the end of the packets, and passes the remaining ones to `next`.
    func finish(into next: (consuming Packet) throws -> Void) throws
    /// Passes packets that are held back to `next` after a read error.
    func interrupt(into next: (consuming Packet) throws -> Void) throws
    /// Reports that a packet is missing before the next one.
    func noteLoss()
    /// Resets the state after a seek.
    func reset()
}

extension PacketStage {
    func parameters(of input: CodecParameters) throws -> CodecParameters { input }
    func finish(into next: (consuming Packet) throws -> Void) throws {}
    func interrupt(into next: (consuming Packet) throws -> Void) throws {}
    func noteLoss() {}
    func reset() {}
}
