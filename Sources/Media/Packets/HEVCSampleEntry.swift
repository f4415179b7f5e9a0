internal import LibAV

/// Converts copied HEVC to a track with parameter sets in its sample entry (`hvc1`, ISO/IEC 14496-15), which Apple's
/// players require. In packets of a transport stream, length prefixes replace the start codes. Parameter sets that are
/// repeated in packets are kept.
///
/// If a packet contains a set that the sample entry lacks, `hasOtherSets` becomes true, and the writer changes the
/// sample entry to `hev1`; in segments, only if the packet belongs to the first one, because the initialization segment
/// is passed on with it.
final class HEVCSampleEntry: PacketStage {
    /// Codec tag of a track whose parameter sets are all in its sample entry.
    static let tag = "hvc1"
    /// Codec tag of a track whose packets contain parameter sets that its sample entry lacks.
    static let inBandTag = "hev1"

    /// Whether a packet contained a parameter set that isn't in the sample entry.
    private(set) var hasOtherSets = false
    private let headers: HEVCHeaders
    private let storedSets: Set<[UInt8]>

    /// Returns nil for other codecs, for headers that can't be parsed, and for Dolby Vision tags (`dvh1`).
    init?(_ parameters: CodecParameters) {
        guard parameters.traits.parameterSets == .hevc, parameters.codecTag?.hasPrefix("dv") != true,
            let headers = HEVCHeaders(parameters.extradata)
        else { return nil }
        self.headers = headers
        storedSets = Set(headers.sets)
    }

    func parameters(of input: CodecParameters) throws -> CodecParameters {
        try input.with(extradata: headers.completeRecord, level: nil, codecTag: Self.tag)
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        guard headers.framing == .startCodes else {
            packet.withBytes { bytes in
                _ = headers.framing.forEach(in: bytes) { note($0) }
            }
            return try next(packet)
        }
        let own = CutBitstream(codec: .hevc, framing: .startCodes)
        let bytes = packet.withBytes { bytes in
            _ = headers.framing.forEach(in: bytes) { note($0) }
            return own.framed(bytes, lengthSize: headers.lengthSize)
        }
        let framed = try Packet.of(bytes)
        try framed.copyProperties(of: packet)
        try next(framed)
    }

    private func note(_ unit: UnsafeRawBufferPointer) {
        guard !hasOtherSets, (32...34).contains(unit[0] >> 1 & 0x3f) else { return }
        hasOtherSets = !storedSets.contains(Array(unit))
    }
}
