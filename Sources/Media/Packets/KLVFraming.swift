internal import LibAV

/// Inserts the metadata access unit header (ISO/IEC 13818-1) into packets of SMPTE KLV that is carried as synchronous
/// metadata (MISB ST 1402). libavformat 5.1 removes the header when demuxing, and doesn't insert it when muxing.
final class KLVFraming: PacketStage {
    private let track: TrackReference
    private var sequence: UInt8 = 0

    init(track: TrackReference) { self.track = track }

    func parameters(of input: CodecParameters) throws -> CodecParameters { try input.asSynchronousMetadata() }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        try next(try framed(packet))
    }

    /// Returns the packet's data after a header. Throws for more than 65535 bytes.
    private func framed(_ packet: borrowing Packet) throws -> Packet {
        let size = packet.size
        guard size <= Int(UInt16.max) else {
            throw MediaError.invalidArgument(
                "\(track): an access unit of metadata has at most 65535 bytes, not \(size)")
        }
        // Metadata service 0, sequence number; one complete cell that is a random-access point; size.
        let header: [UInt8] = [0, sequence, 0xdf, UInt8(size >> 8), UInt8(size & 0xff)]
        sequence &+= 1
        let bytes = packet.withBytes { header + $0 }
        let unit = try Packet.of(bytes)
        try unit.copyProperties(of: packet)
        return unit
    }
}
