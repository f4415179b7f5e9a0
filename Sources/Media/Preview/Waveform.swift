internal import LibAV

/// Audio level over time, in columns of equal width, for display.
package struct Waveform: Codable, Sendable {
    package var duration: MediaTime
    /// The peak of each column, from 0 to 255 for full scale.
    package var peaks: [UInt8]
    /// The root mean square of each column, from 0 to 255 for full scale.
    package var levels: [UInt8]

    /// Number of columns of a fully measured waveform.
    static let columns = 240
    /// Maximum duration in seconds that is measured completely; longer audio is sampled.
    static let wholeSeconds = 1200.0

    /// Number of columns of a sampled waveform.
    private static let fewColumns = 120

    /// Measures a track. Of a track longer than 20 minutes, only the first quarter of a second of each column is read.
    /// Returns nil for an empty track; throws `CancellationError` if cancelled.
    package static func measure(
        asset: Asset, track: AssetTrack, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> Waveform? {
        let range = track.timeRange
        guard range.duration > .zero else { return nil }
        let isWhole = range.duration.seconds <= wholeSeconds
        let count = isWhole ? columns : fewColumns
        var ranges = range.start > .zero ? [range] : []
        if !isWhole {
            let quarter = MediaTime(value: 1, timescale: 4)
            ranges = (0..<count).map {
                TimeRange(
                    start: range.start + range.duration.multiplied(by: Int64($0), dividedBy: Int64(count)),
                    duration: quarter)
            }
        }
        let seconds = isWhole ? range.duration.seconds : Double(count) / 4
        let samples = Int(seconds * Double(max(1, track.format.sampleRate)))
        let data = try WaveformReader(
            asset: asset, track: track, extent: ReadingExtent(ranges: ranges), isCancelled: isCancelled
        ).read(
            // Each column is combined from several waveform pixels, so that column boundaries are accurate.
            WaveformReader.Settings(
                samplesPerPixel: max(1, samples / (count * 32)), splitsChannels: true, measuresPower: true))
        let found = (0..<count).map { column in
            (0..<data.channels).compactMap { data.column(column, of: count, channel: $0) }
        }
        return Waveform(
            duration: range.duration,
            peaks: found.map { channels in byte(channels.map { max(-$0.low, $0.high) }.max() ?? 0) },
            levels: found.map { channels in
                byte((channels.reduce(0) { $0 + $1.power } / Double(max(1, channels.count))).squareRoot())
            })
    }

    private static func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, (value * 255).rounded()))) }
}
