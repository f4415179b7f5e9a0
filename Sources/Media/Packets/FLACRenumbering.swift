internal import LibAV

/// Rewrites a section of a FLAC stream as a complete stream: frame numbers start at 0, and STREAMINFO contains the
/// section's length and no checksum. Decoders use length, checksum and numbers; copied ones would be wrong.
///
/// Confined to one queue.
final class FLACRenumbering: PacketStage {
    private var header: FLACStreamInfo
    private var frames: UInt64 = 0
    private var samples: UInt64 = 0

    /// End of the last frame, in its packet's time base.
    private var end: (pts: Int64, dts: Int64) = (0, 0)

    /// Creates a stage; `header` is the codec's STREAMINFO. Returns nil unless it has 34 bytes.
    init?(header: [UInt8]) {
        guard let header = FLACStreamInfo(header) else { return nil }
        self.header = header
        (self.header.smallestFrame, self.header.largestFrame, self.header.samples) = (0, 0, 0)
        self.header.checksum = []
    }

    /// Returns whether STREAMINFO contains the number of samples; in Ogg it is often 0 (unknown).
    static func storesLength(_ header: [UInt8]) -> Bool { FLACStreamInfo(header)?.samples != 0 }

    /// Returns parameters with a STREAMINFO without length and checksum, which is valid before the number of frames is
    /// known.
    func parameters(of input: CodecParameters) throws -> CodecParameters {
        try input.with(extradata: header.bytes, level: nil, codecTag: nil)
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        end = (packet.pts + packet.duration, packet.dts + packet.duration)
        try next(try self.next(packet))
    }

    /// Passes on the final STREAMINFO as side data of an empty packet (`AV_PKT_DATA_NEW_EXTRADATA`).
    func finish(into next: (consuming Packet) throws -> Void) throws {
        var finished = header
        finished.samples = samples
        let packet = try Packet.containing(header: finished.bytes)
        (packet.pts, packet.dts) = end
        try next(packet)
    }

    /// Returns a packet with its new frame number; a packet that isn't a FLAC frame is returned unchanged.
    private func next(_ packet: consuming Packet) throws(AVError) -> Packet {
        let rewritten = packet.withBytes { bytes in
            FLACFrameHeader(bytes).map { header in
                (
                    FLACFrameNumber.replaced(
                        in: bytes, header, by: header.numbersSamples ? samples : frames), header.samples
                )
            }
        }
        guard let (bytes, length) = rewritten else { return packet }
        frames += 1
        samples += UInt64(length)
        let fresh = try Packet.of(bytes)
        try fresh.copyProperties(of: packet)
        return fresh
    }
}
