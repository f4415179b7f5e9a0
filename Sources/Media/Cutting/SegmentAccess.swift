package import LibAV

/// The test whether copied video can be decoded from a packet on without earlier ones, for H.264 and HEVC.
package struct SegmentAccess {
    private let bitstream: CutBitstream

    /// Creates a test for a track; nil if the codec isn't supported, or if its headers can't be parsed.
    package init?(_ parameters: CodecParameters) {
        guard let bitstream = CutBitstream(parameters) else { return nil }
        self.bitstream = bitstream
    }

    /// Whether no frame from the packet on refers to an earlier one (IDR, BLA).
    package func isClosed(_ packet: [UInt8]) -> Bool {
        packet.withUnsafeBytes { bitstream.randomAccess($0) } == .clean
    }
}
