internal import LibAV

/// Inserts the header of an access unit before metadata with a time (SMPTE KLV, carried as synchronous metadata, MISB
/// ST 1402). libavformat 5.1 removes the header when it reads, and doesn't insert it when it writes.
final class KLVFraming: PacketStage {
    private let track: TrackReference
    private var sequence: UInt8 = 0

    init(track: TrackReference) { self.track = track }

    func parameters(of input: CodecParameters) throws -> CodecParameters { try input.asSynchronousMetadata() }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        try next(try framed(packet))
    }

    /// Returns the packet's data with a header.
    private func framed(_ packet: borrowing Packet) throws -> Packet {
        let size = packet.size
        guard size <= Int(UInt16.max) else {
            throw MediaError.misuse(
                "\(track): an access unit of metadata has at most 65535 bytes, not \(size)")
        }
        // Service 0; one complete cell, independently decodable.
        let header: [UInt8] = [0, sequence, 0xdf, UInt8(size >> 8), UInt8(size & 0xff)]
        sequence &+= 1
        let bytes = packet.withBytes { header + $0 }
        let unit = try Packet.of(bytes)
        try unit.copyProperties(of: packet)
        return unit
    }
}
