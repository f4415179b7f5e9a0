internal import LibAV

/// How loud audio is over its length, in columns of one width, for a person to look at.
public struct Waveform: Codable, Sendable {
    /// How long the audio is.
    public var duration: MediaTime
    /// The largest sample of each column, from 0 to 255 for full scale.
    public var peaks: [UInt8]
    /// The root of the mean square of each column's samples, likewise.
    public var levels: [UInt8]

    /// Columns of a waveform.
    static let columns = 240
    /// Longer audio is listened to here and there.
    static let wholeSeconds = 1200.0

    /// Listens to a track. Of one longer than twenty minutes each column is the first quarter of a second of its
    /// range. Throws `CancellationError` after a cancel.
    public static func measure(
        asset: Asset, track: AssetTrack, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> Waveform? {
        let range = track.timeRange
        guard range.duration > .zero else { return nil }
        var count = columns
        var extent = ReadingExtent()
        // Where a column begins, on the time line that samples come on.
        var (begin, width) = (range.start.seconds, range.duration.seconds / Double(columns))
        if range.duration.seconds > wholeSeconds {
            count = 120
            let quarter = MediaTime(value: 1, timescale: 4)
            extent.ranges = (0..<count).map {
                TimeRange(
                    start: range.start + range.duration.multiplied(by: Int64($0), dividedBy: Int64(count)),
                    duration: quarter)
            }
            (begin, width) = (0, quarter.seconds)
        }
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .audio(AudioOutputSettings(sampleFormat: .planarFloat)),
            extent: extent, isCancelled: isCancelled)
        try samples.start()
        var columns = [Column](repeating: Column(), count: count)
        while let sample = try samples.next() {
            let tick = sample.timeBase.double
            let first = Double(sample.pts) * tick - begin
            sample.withFrame { frame in
                let samplesPerColumn = max(1, width * Double(frame.sampleRate))
                var column = first * Double(frame.sampleRate) / samplesPerColumn
                var done = 0
                while done < frame.sampleCount {
                    let index = min(max(0, Int(column)), count - 1)
                    let left =
                        index == count - 1
                        ? frame.sampleCount
                        : Int(((Double(index + 1) - column) * samplesPerColumn).rounded(.up))
                    let take = min(max(1, left), frame.sampleCount - done)
                    columns[index].add(frame, from: done, count: take)
                    done += take
                    column += Double(take) / samplesPerColumn
                }
            }
        }
        return Waveform(
            duration: range.duration, peaks: columns.map { byte($0.peak) },
            levels: columns.map { byte($0.count > 0 ? ($0.squares / Double($0.count)).squareRoot() : 0) })
    }

    private struct Column {
        var peak = 0.0
        var squares = 0.0
        var count = 0

        mutating func add(_ frame: borrowing Frame, from start: Int, count: Int) {
            for channel in 0..<min(8, frame.channelLayout.channels) {
                let found = frame.withPlane(channel) { bytes, _ -> (Float, Double) in
                    let values = bytes.bindMemory(to: Float.self)
                    var (peak, squares) = (Float(0), Float(0))
                    for value in values[start..<min(start + count, values.count)] {
                        // No number is no audio.
                        let value = value.isFinite ? value : 0
                        peak = max(peak, abs(value))
                        squares += value * value
                    }
                    return (peak, Double(squares))
                }
                guard let (peak, squares) = found else { continue }
                self.peak = max(self.peak, Double(peak))
                self.squares += squares
                self.count += count
            }
        }
    }

    private static func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, (value * 255).rounded()))) }
}
