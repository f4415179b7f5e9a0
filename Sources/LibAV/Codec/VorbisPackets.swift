internal import CFFmpeg

/// How long packets of Vorbis are: one overlaps with the one before, whose size counts (`AVVorbisParseContext`).
/// Confined to one queue.
package final class VorbisPackets {
    private var parser: OpaquePointer?
    /// The sizes of the short and the long block in samples; nil where the first header isn't found.
    package let blockSizes: ClosedRange<Int>?

    /// Nil where the headers make no sense.
    package init?(_ parameters: CodecParameters) {
        let headers = parameters.extradata
        blockSizes = Self.blockSizes(headers)
        parser = headers.withUnsafeBufferPointer {
            av_vorbis_parse_init($0.baseAddress, Int32(clamping: $0.count))
        }
        if parser == nil { return nil }
    }

    deinit { av_vorbis_parse_free(&parser) }

    /// The next packet doesn't follow on the one before (`av_vorbis_parse_reset`).
    package func restart() { av_vorbis_parse_reset(parser) }

    /// Samples that the next packet decodes to; nil where it makes no sense.
    package func samples(of packet: borrowing Packet) -> Int? {
        let count = packet.withBytes { bytes in
            av_vorbis_parse_frame(
                parser, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: bytes.count))
        }
        return count > 0 ? Int(count) : nil
    }

    /// They stand in the first header as powers of two, behind the sizes of all three headers (Vorbis I, 4.2.2).
    private static func blockSizes(_ headers: [UInt8]) -> ClosedRange<Int>? {
        let name = Array("\u{1}vorbis".utf8)
        guard let at = (0..<16).first(where: { headers.dropFirst($0).starts(with: name) }),
            headers.count > at + 28
        else { return nil }
        let (short, long) = (Int(headers[at + 28] & 0x0f), Int(headers[at + 28] >> 4))
        return short <= long ? 1 << short...1 << long : nil
    }
}
