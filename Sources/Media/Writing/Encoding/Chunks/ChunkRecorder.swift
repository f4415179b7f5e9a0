internal import LibAV

/// A recorder of encoded chunks, which writes them one after another.
///
/// Confined to one queue.
final class ChunkRecorder {
    /// Indices of the recorded chunks.
    let chunks: Range<Int>
    /// Index of the next chunk.
    private var next: Int
    /// Packets of the next chunk so far.
    private var packets = PacketList()
    private let write: ([UInt8]) throws -> Void
    private let onPacket: () throws(AVError) -> Void
    /// The error of `write`; nil if there was none.
    private(set) var failure: (any Error)?

    /// Creates a recorder. `write` appends bytes to the file, and is called first with its header; `onPacket` is called for each
    /// packet, and may end the recording by an error.
    init(
        _ chunks: Range<Int>, identity: String, onPacket: @escaping () throws(AVError) -> Void = {},
        write: @escaping ([UInt8]) throws -> Void
    ) throws {
        self.onPacket = onPacket
        self.chunks = chunks
        self.write = write
        next = chunks.lowerBound
        try write(ChunkFile.header(identity: identity))
    }

    /// Adds a packet of the next chunk.
    func add(_ packet: consuming Packet) throws(AVError) {
        packets.append(packet)
        try onPacket()
    }

    /// Writes the next chunk, whose packets were added.
    func endChunk(of frames: Checksum.Value) throws(AVError) {
        let record = try ChunkRecord.encode(index: next, frames: frames, packets: packets)
        packets = PacketList()
        next += 1
        do {
            try write(record)
        } catch {
            failure = error
            throw .ended("writing")
        }
    }
}
