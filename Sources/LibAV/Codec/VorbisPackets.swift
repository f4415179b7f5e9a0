internal import CFFmpeg

/// How long packets of Vorbis are: one overlaps with the one before, whose size counts (`AVVorbisParseContext`).
/// Confined to one queue.
public final class VorbisPackets {
    private var parser: OpaquePointer?

    /// Nil where the headers make no sense.
    public init?(_ parameters: CodecParameters) {
        let headers = parameters.extradata
        parser = headers.withUnsafeBufferPointer {
            av_vorbis_parse_init($0.baseAddress, Int32(clamping: $0.count))
        }
        if parser == nil { return nil }
    }

    deinit { av_vorbis_parse_free(&parser) }

    /// The next packet doesn't follow on the one before (`av_vorbis_parse_reset`).
    public func restart() { av_vorbis_parse_reset(parser) }

    /// Samples that the next packet decodes to; nil where it makes no sense.
    public func samples(of packet: borrowing Packet) -> Int? {
        let count = packet.withBytes { bytes in
            av_vorbis_parse_frame(
                parser, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: bytes.count))
        }
        return count > 0 ? Int(count) : nil
    }
}
