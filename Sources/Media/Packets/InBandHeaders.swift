internal import LibAV

/// Inserts the headers of MPEG-4 part 2 (video object layer, ISO/IEC 14496-2) into keyframes that lack them. mp4 and
/// Matroska store them out of band; a transport stream can store them in band only, and libavformat doesn't insert
/// them.
final class InBandHeaders: PacketStage {
    private let headers: [UInt8]

    /// Returns nil for other codecs, and without extradata: the headers are then already in band.
    init?(_ parameters: CodecParameters) {
        guard parameters.traits.olderVideo == .mpeg4, !parameters.extradata.isEmpty else { return nil }
        headers = parameters.extradata
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        guard packet.isKey, !packet.withBytes(Self.hasHeaders) else { return try next(packet) }
        let whole = try Packet.of(packet.withBytes { headers + $0 })
        try whole.copyProperties(of: packet)
        try next(whole)
    }

    /// Returns whether the start code of a video object layer precedes that of the frame.
    private static func hasHeaders(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position + 3 < bytes.count {
            if bytes[position] == 0, bytes[position + 1] == 0, bytes[position + 2] == 1 {
                let code = bytes[position + 3]
                if (0x20...0x2f).contains(code) { return true }
                if code == 0xb6 { return false }
            }
            position += 1
        }
        return false
    }
}
