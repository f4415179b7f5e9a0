internal import LibAV

/// Computes times of FLAC in Ogg from frame sizes. libavformat starts at 0 regardless of the first page's position, but
/// uses the positions of later pages, so that a section of a long stream seems to contain a gap of hours. Frame numbers
/// show how many frames are missing. Decreasing numbers, as in concatenated files, are ignored.
final class FLACTimestamps: PacketStage {
    /// The track's first frame: time, position according to its number, and number of samples.
    private var first: (time: Int64, position: Int64, samples: Int64)?
    private var expected: Int64 = 0
    private let unit: Rational
    private let timeBase: Rational

    init(sampleRate: Int32, timeBase: Rational) {
        unit = Rational(1, max(1, sampleRate))
        self.timeBase = timeBase
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        count(packet)
        try next(packet)
    }

    private func count(_ packet: borrowing Packet) {
        guard let header = packet.withBytes({ FLACFrameHeader($0) }) else { return }
        let samples = Int64(header.samples)
        let size = first?.samples ?? samples
        let position = header.numbersSamples ? header.number : header.number * size
        if first == nil {
            let declared = packet.pts != noTimestamp ? packet.pts : packet.dts
            let time = declared == noTimestamp ? 0 : timeBase.rescale(declared, to: unit)
            (first, expected) = ((time, position, samples), time)
        }
        let start = max(expected, first.map { $0.time + position - $0.position } ?? 0)
        expected = start + samples
        let time = unit.rescale(start, to: timeBase)
        (packet.pts, packet.dts, packet.duration) = (time, time, unit.rescale(samples, to: timeBase))
    }

    /// Resets the state; counting starts with the next packet.
    func reset() { (first, expected) = (nil, 0) }
}
