internal import CFFmpeg

/// A parser of the durations of Vorbis packets (`AVVorbisParseContext`). A packet overlaps the previous one, whose
/// block size affects the duration. Confined to one queue.
package final class VorbisPackets {
    private var parser: OpaquePointer?
    /// Sizes of the short and the long block in samples; nil if the identification header isn't found.
    package let blockSizes: ClosedRange<Int>?

    /// Creates a parser; nil if the codec headers are invalid.
    package init?(_ parameters: CodecParameters) {
        let headers = parameters.extradata
        blockSizes = Self.blockSizes(headers)
        parser = headers.withUnsafeBufferPointer {
            av_vorbis_parse_init($0.baseAddress, Int32(clamping: $0.count))
        }
        if parser == nil { return nil }
    }

    deinit { av_vorbis_parse_free(&parser) }

    /// Resets the parser for a packet that doesn't follow the previous one (`av_vorbis_parse_reset`).
    package func restart() { av_vorbis_parse_reset(parser) }

    /// Returns the number of samples that the next packet decodes to; nil if it is invalid.
    package func samples(of packet: borrowing Packet) -> Int? {
        let count = packet.withBytes { bytes in
            av_vorbis_parse_frame(
                parser, bytes.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: bytes.count))
        }
        return count > 0 ? Int(count) : nil
    }

    /// Reads the block sizes. The first header contains them as powers of two; it follows the sizes of all three
    /// headers (Vorbis I, 4.2.2).
    private static func blockSizes(_ headers: [UInt8]) -> ClosedRange<Int>? {
        let name = Array("\u{1}vorbis".utf8)
        guard let at = (0..<16).first(where: { headers.dropFirst($0).starts(with: name) }),
            headers.count > at + 28
        else { return nil }
        let (short, long) = (Int(headers[at + 28] & 0x0f), Int(headers[at + 28] >> 4))
        return short <= long ? 1 << short...1 << long : nil
    }
}
