internal import LibAV

/// Puts H.264's parameter sets into packets at which decoding may begin. In a transport stream they stand nowhere else, and
/// libavformat 5.1 puts them before IDR frames alone: not where an open group begins.
final class InBandSets: PacketStage {
    private let sets: [UInt8]
    private let lengthSize: Int
    private var hasBegun = false

    /// Nil where the stream has them in its packets already.
    init?(_ parameters: CodecParameters) {
        guard parameters.traits.parameterSets == .avc, let headers = AVCHeaders(parameters.extradata),
            case .lengths(let size) = headers.framing
        else { return nil }
        lengthSize = size
        sets = (headers.sequences + headers.pictures).flatMap { unit in
            (0..<size).reversed().map { UInt8(truncatingIfNeeded: unit.count >> (8 * $0)) } + unit
        }
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        try next(try inserted(into: packet))
    }

    /// The packet, with them where they are missing.
    private func inserted(into packet: consuming Packet) throws(AVError) -> Packet {
        let isFirst = !hasBegun
        hasBegun = true
        guard packet.isKey || isFirst else { return packet }
        var (needsThem, delimiter) = (true, 0)
        let bytes = packet.withBytes { bytes -> [UInt8] in
            var isAtStart = true
            _ = NALFraming.lengths(lengthSize).forEach(in: bytes) { unit in
                let kind = unit[0] & 0x1f
                if kind == 5 || kind == 7 { needsThem = false }
                // A delimiter comes before everything else.
                if isAtStart, kind == 9 { delimiter = lengthSize + unit.count }
                isAtStart = false
            }
            return needsThem ? bytes[..<delimiter] + sets + bytes[delimiter...] : []
        }
        guard needsThem else { return packet }
        let whole = try Packet.of(bytes)
        try whole.copyProperties(of: packet)
        return whole
    }
}
