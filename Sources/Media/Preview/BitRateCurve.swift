package import LibAV

/// Bit rate of a file over its duration, in columns of equal width, for display.
package struct BitRateCurve: Codable, Sendable {
    package var duration: MediaTime
    /// Average bit rate of the whole file, in bits per second.
    package var average: Int64
    /// Average bit rate of each column, in bits per second.
    package var bitRates: [Int64]

    /// Reads every packet of a file. Returns nil without a duration; throws `CancellationError` if cancelled.
    package static func measure(
        path: String, environment: SourceEnvironment, duration: MediaTime, isCancelled: () -> Bool = { false }
    ) throws -> BitRateCurve? {
        let length = duration.seconds
        guard length > 0, length.isFinite else { return nil }
        // With columns of at least 0.5 s, keyframes don't stand out from the frames between them.
        let width = max(0.5, length / 200)
        let count = Int(min(200, (length / width).rounded(.up)))
        var bytes = [Int64](repeating: 0, count: max(1, count))
        let demuxer = try Demuxer.open(path: path, environment: environment, discovery: .counting)
        let bases = try (0..<demuxer.streamCount).map { try demuxer.stream($0).timeBase.double }
        let hasArbitraryStart = demuxer.model.hasArbitraryStart
        var origin: Double?
        let packet = try Packet()
        while try demuxer.read(into: packet) {
            if isCancelled() { throw CancellationError() }
            let ticks = packet.dts == noTimestamp ? packet.pts : packet.dts
            guard ticks != noTimestamp, packet.streamIndex < bases.count else { continue }
            let time = Double(ticks) * bases[packet.streamIndex]
            let zero = origin ?? (hasArbitraryStart ? time : 0)
            origin = zero
            let column = max(0, min(Double(bytes.count - 1), (time - zero) / width))
            bytes[Int(column)] += Int64(packet.size)
        }
        return BitRateCurve(
            duration: duration, average: Int64(Double(bytes.reduce(0, +)) * 8 / max(0.04, length)),
            bitRates: bytes.enumerated().map { index, count in
                // The last column may be shorter.
                let seconds = max(0.04, min(width, length - Double(index) * width))
                return Int64(Double(count) * 8 / seconds)
            })
    }
}
