internal import LibAV

/// The times of FLAC in Ogg, counted from the sizes of its frames. libavformat begins at 0 whatever the first page's position is, and takes
/// the later ones as they are: what was cut from a stream has a hole of hours in it. A frame's own number says how many are missing
/// where some are; numbers that go back, of files that were joined, count for nothing.
final class FLACTimestamps: PacketStage {
    /// The track's first frame: its time, its place by its number, and how long it is.
    private var first: (time: Int64, place: Int64, samples: Int64)?
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
        let place = header.numbersSamples ? header.number : header.number * size
        if first == nil {
            let told = packet.pts != noTimestamp ? packet.pts : packet.dts
            let time = told == noTimestamp ? 0 : timeBase.rescale(told, to: unit)
            (first, expected) = ((time, place, samples), time)
        }
        let start = max(expected, first.map { $0.time + place - $0.place } ?? 0)
        expected = start + samples
        let time = unit.rescale(start, to: timeBase)
        (packet.pts, packet.dts, packet.duration) = (time, time, unit.rescale(samples, to: timeBase))
    }

    /// Only what is read from its beginning is counted.
    func reset() { (first, expected) = (nil, 0) }
}
