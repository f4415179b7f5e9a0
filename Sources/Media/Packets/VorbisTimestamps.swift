internal import LibAV

/// The times of Vorbis in Ogg, counted from the sizes of its blocks: a page says one position for all of its packets, and
/// old encoders say it of another packet than libavformat takes it for. Positions count at the ends alone: the first page's
/// says where the track begins, the last one's where it ends. One that is away by more than a block is a pause.
final class VorbisTimestamps: PacketStage {
    private let lengths: VorbisPackets
    private let longestBlock: Int64
    private var expected: Int64?
    /// What ends before it is left out: nobody asked for it, and it was read only to count it.
    var wantedFrom = Int64.min

    /// Nil of headers that make no sense.
    init?(_ parameters: CodecParameters) {
        guard let lengths = VorbisPackets(parameters), let blocks = lengths.blockSizes else { return nil }
        (self.lengths, longestBlock) = (lengths, Int64(blocks.upperBound))
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        if try count(packet) { try next(packet) }
    }

    func lose() { reset() }

    func reset() {
        expected = nil
        lengths.restart()
    }

    /// Puts the count in place of the container's times; false where the packet is before what is wanted.
    private func count(_ packet: borrowing Packet) throws(AVError) -> Bool {
        guard let length = lengths.samples(of: packet).map(Int64.init) else {
            reset()
            return true
        }
        let told = packet.pts == noTimestamp ? packet.dts : packet.pts
        guard var start = expected ?? (told == noTimestamp ? nil : told) else { return true }
        if told != noTimestamp, abs(told - start) > longestBlock { start = told }
        expected = start + length
        // libavformat shortens the last one by what its page says isn't heard.
        if packet.duration > 0, packet.duration < length {
            let end = (told == noTimestamp ? start : told) + packet.duration
            let heard = max(0, min(length, end - start))
            try packet.setSkippedSamples(
                start: UInt32(clamping: packet.skippedSamples.start), end: UInt32(clamping: length - heard))
            packet.duration = heard
        } else {
            packet.duration = length
        }
        (packet.pts, packet.dts) = (start, start)
        return start + length > wantedFrom
    }
}
