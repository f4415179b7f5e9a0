package import LibAV

/// Bits a second of a whole file over its length, in columns of one width, for a person to look at.
package struct BitRateCurve: Codable, Sendable {
    /// How long the file is.
    package var duration: MediaTime
    /// Bits a second on the average of it all.
    package var average: Int64
    /// Bits a second, on the average of each column.
    package var bitRates: [Int64]

    /// Reads every packet of a file. Throws `CancellationError` after a cancel.
    package static func measure(
        path: String, environment: SourceEnvironment, duration: MediaTime, isCancelled: () -> Bool = { false }
    ) throws -> BitRateCurve? {
        let length = duration.seconds
        guard length > 0, length.isFinite else { return nil }
        // A column holds the frames between two key frames, as far as that can be.
        let width = max(0.5, length / 200)
        let count = Int(min(200, (length / width).rounded(.up)))
        var bytes = [Int64](repeating: 0, count: max(1, count))
        let demuxer = try Demuxer.open(path: path, environment: environment, discovery: .counting)
        let bases = try (0..<demuxer.streamCount).map { try demuxer.stream($0).timeBase.double }
        let beginsAnywhere = SourceContainer(demuxer.formatName).beginsAnywhere
        var origin: Double?
        let packet = try Packet()
        while try demuxer.read(into: packet) {
            if isCancelled() { throw CancellationError() }
            let ticks = packet.dts == noTimestamp ? packet.pts : packet.dts
            guard ticks != noTimestamp, packet.streamIndex < bases.count else { continue }
            let time = Double(ticks) * bases[packet.streamIndex]
            let zero = origin ?? (beginsAnywhere ? time : 0)
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
