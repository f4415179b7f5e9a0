internal import LibAV

/// Inserts H.264 parameter sets into keyframes. A transport stream can store them in band only, and libavformat 5.1
/// inserts them before IDR frames only, not at the start of an open GOP.
final class InBandSets: PacketStage {
    private let sets: [UInt8]
    private let lengthSize: Int
    private var hasBegun = false

    /// Returns nil for other codecs, and for streams with start codes, which have their parameter sets in band.
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

    /// Returns the packet; parameter sets are inserted into the first packet and into keyframes, except for IDR frames
    /// and packets that contain a set.
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
                // An access unit delimiter must come first.
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
