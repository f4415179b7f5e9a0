internal import LibAV

/// A step that a track's packets go through, between the demuxer and who reads them or on their way to a muxer. What a codec or
/// a container needs of them is a stage, put in its place when the reader or the writer is opened. Confined to one queue.
protocol PacketStage: AnyObject {
    /// What comes out, told as the muxer is told it.
    func parameters(of input: CodecParameters) throws -> CodecParameters
    /// Takes a packet, and hands on what comes of it.
    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws
    /// No more comes: hands on what is left.
    func finish(into next: (consuming Packet) throws -> Void) throws
    /// Reading failed: hands on what only waited to see the next packet.
    func interrupt(into next: (consuming Packet) throws -> Void) throws
    /// A packet is missing before the next one.
    func lose()
    /// The packets that follow come from another place of the source.
    func reset()
}

extension PacketStage {
    func parameters(of input: CodecParameters) throws -> CodecParameters { input }
    func finish(into next: (consuming Packet) throws -> Void) throws {}
    func interrupt(into next: (consuming Packet) throws -> Void) throws {}
    func lose() {}
    func reset() {}
}
