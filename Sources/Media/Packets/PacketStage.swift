internal import LibAV

/// A step that processes a track's packets, between the demuxer and their reader, or before a muxer. Requirements of
/// a codec or a container are implemented as stages, which are selected when the reader or writer is opened. Confined
/// to one queue.
protocol PacketStage: AnyObject {
    /// Returns the codec parameters of the output packets, for the muxer.
    func parameters(of input: CodecParameters) throws -> CodecParameters
    /// Processes a packet, and passes the resulting packets to `next`.
    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws
    /// Ends the packets, and passes the remaining ones to `next`.
    func finish(into next: (consuming Packet) throws -> Void) throws
    /// Passes packets that were held back for the next one to `next`, after a read error.
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
