internal import LibAV

/// Computes times of Vorbis in Ogg from block sizes: a page has one position for all of its packets, and old encoders
/// assign it to another packet than libavformat expects. Only the first page's position, for the start of the track,
/// and the last page's, for its end, are used. A position that deviates by more than the longest block marks a gap.
final class VorbisTimestamps: PacketStage {
    private let lengths: VorbisPackets
    private let longestBlock: Int64
    private var expected: Int64?
    /// Packets that end at or before this time are dropped; they are read for counting only.
    var neededFrom = Int64.min

    /// Returns nil for malformed headers.
    init?(_ parameters: CodecParameters) {
        guard let lengths = VorbisPackets(parameters), let blocks = lengths.blockSizes else { return nil }
        (self.lengths, longestBlock) = (lengths, Int64(blocks.upperBound))
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if try count(packet) { try next(packet) }
    }

    func noteLoss() { reset() }

    func reset() {
        expected = nil
        lengths.restart()
    }

    /// Replaces a packet's times by sample counts; returns false if the packet ends before `neededFrom`.
    private func count(_ packet: borrowing Packet) throws(AVError) -> Bool {
        guard let length = lengths.samples(of: packet).map(Int64.init) else {
            reset()
            return true
        }
        let declared = packet.pts == noTimestamp ? packet.dts : packet.pts
        guard var start = expected ?? (declared == noTimestamp ? nil : declared) else { return true }
        if declared != noTimestamp, abs(declared - start) > longestBlock { start = declared }
        expected = start + length
        // libavformat shortens the last packet by the padding that its page declares.
        if packet.duration > 0, packet.duration < length {
            let end = (declared == noTimestamp ? start : declared) + packet.duration
            let presented = max(0, min(length, end - start))
            try packet.setSkippedSamples(
                start: UInt32(clamping: packet.skippedSamples.start),
                end: UInt32(clamping: length - presented))
            packet.duration = presented
        } else {
            packet.duration = length
        }
        (packet.pts, packet.dts) = (start, start)
        return start + length > neededFrom
    }
}
