internal import LibAV

/// Parser of audio packets' durations in samples, which containers store in other units.
struct PacketLengths {
    private enum Kind {
        case opus
        case vorbis(VorbisPackets)
        case flac
        /// The default number of samples per packet.
        case alac(Int)
        case enhancedAC3
        case dts
        case trueHD
        /// The codec's frame size, or a number derived from the packet's size.
        case fixed
        /// Unknown: for some codecs, libavcodec only estimates it from bit rate and size.
        case unknown
    }
    private let kind: Kind
    private let parameters: CodecParameters

    init(_ parameters: CodecParameters) {
        self.parameters = parameters
        kind =
            switch parameters.traits.lengths {
            case .opus: .opus
            case .vorbis: VorbisPackets(parameters).map { .vorbis($0) } ?? .unknown
            case .flac: .flac
            case .alac: Self.alacFrameSize(parameters.extradata).map { .alac($0) } ?? .unknown
            case .enhancedAC3: .enhancedAC3
            case .dts: .dts
            case .trueHD: .trueHD
            case .fixed: .fixed
            case .unknown: .unknown
            }
    }

    /// Resets the state before a packet that doesn't follow the previous one.
    func restart() {
        if case .vorbis(let packets) = kind { packets.restart() }
    }

    /// A common divisor of all packet durations in samples; nil if it isn't known from the headers. Known for Vorbis
    /// only.
    var unit: Int64? {
        guard case .vorbis(let packets) = kind, let blocks = packets.blockSizes else { return nil }
        // The duration of a Vorbis packet is a quarter of the sum of two block sizes.
        return Int64(max(1, blocks.lowerBound / 4))
    }

    /// Returns the number of samples at the codec's rate; nil if it is unknown.
    func samples(of packet: borrowing Packet) -> Int64? {
        switch kind {
        case .opus: return OpusPacket.samples(of: packet)
        case .vorbis(let packets): return packets.samples(of: packet).map { Int64($0) }
        case .flac: return packet.withBytes { FLACFrameHeader($0).map { Int64($0.samples) } }
        case .alac(let frameSize): return packet.withBytes { Self.alacSamples($0, frameSize: frameSize) }
        case .enhancedAC3: return packet.withBytes { Self.enhancedAC3Samples($0) }
        case .dts: return packet.withBytes { Self.dtsSamples($0) }
        // 40 samples at 44.1 and 48 kHz, and proportionally more at multiples.
        case .trueHD: return 40 * max(1, Int64(parameters.sampleRate) / 44_100)
        case .fixed:
            let count = parameters.sampleCount(ofBytes: packet.size)
            return count > 0 ? Int64(count) : nil
        case .unknown: return nil
        }
    }

    private static let alacBox = Array("alac".utf8)

    /// Returns ALAC's frame size; `header` is an `alac` box, or its contents.
    private static func alacFrameSize(_ header: [UInt8]) -> Int? {
        let at = header.count >= 36 && Array(header[4..<8]) == alacBox ? 12 : 0
        guard header.count >= at + 24 else { return nil }
        let size = header[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) }
        return (1...1 << 20).contains(size) ? size : nil
    }

    /// Returns the number of samples of an ALAC packet: the frame size, unless a flag announces another number.
    private static func alacSamples(_ bytes: UnsafeRawBufferPointer, frameSize: Int) -> Int64? {
        guard bytes.count > 7 else { return nil }
        guard bytes[2] & 0x10 != 0 else { return Int64(frameSize) }
        // The number is preceded by 23 bits.
        let bits = (2..<7).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
        let count = Int64(bits >> 1 & 0xffff_ffff)
        return count > 0 && count <= frameSize ? count : nil
    }

    /// Returns the number of samples of an E-AC-3 packet. Independent frames of the first program are consecutive; a
    /// dependent frame has the time of the independent one (ETSI TS 102 366, E.1.3.1).
    private static func enhancedAC3Samples(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var (at, blocks) = (0, 0)
        while at + 5 < bytes.count {
            guard bytes[at] == 0x0b, bytes[at + 1] == 0x77 else { return nil }
            let (kind, programme) = (bytes[at + 2] >> 6, bytes[at + 2] >> 3 & 7)
            if kind != 1, programme == 0 {
                // With a reduced sample rate (`fscod` 3), `fscod2` replaces the block count, which is 6.
                blocks += bytes[at + 4] >> 6 == 3 ? 6 : [1, 2, 3, 6][Int(bytes[at + 4] >> 4 & 3)]
            }
            at += 2 * ((Int(bytes[at + 2] & 7) << 8 | Int(bytes[at + 3])) + 1)
        }
        return blocks > 0 ? Int64(blocks) * 256 : nil
    }

    /// Returns the number of samples of a DTS packet, in blocks of 32 (ETSI TS 102 114, 5.3.1); nil for a packet
    /// without a core.
    private static func dtsSamples(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.count > 5, bytes.prefix(4).elementsEqual([0x7f, 0xfe, 0x80, 0x01]) else { return nil }
        let blocks = Int64(bytes[4] & 1) << 6 | Int64(bytes[5] >> 2)
        return blocks > 4 ? (blocks + 1) * 32 : nil
    }
}
