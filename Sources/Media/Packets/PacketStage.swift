internal import LibAV

/// A step that copied packets go through on their way to a muxer. What a codec or a container needs of them is a stage,
/// put in its place when the writer is opened; packets know their times. Confined to the appending queue.
protocol PacketStage: AnyObject {
    /// What comes out, told as the muxer is told it.
    func parameters(of input: CodecParameters) throws -> CodecParameters
    /// Takes a packet, and hands on what comes of it.
    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws
    /// No more comes: hands on what is left.
    func finish(into next: (consuming Packet) throws -> Void) throws
}

extension PacketStage {
    func parameters(of input: CodecParameters) throws -> CodecParameters { input }
    func finish(into next: (consuming Packet) throws -> Void) throws {}
}
