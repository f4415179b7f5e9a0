internal import LibAV

/// Minimum and maximum sample of each pixel of a waveform, as in audiowaveform: 16-bit samples, with a fixed number of
/// samples per pixel.
public struct WaveformData: Sendable, Equatable {
    /// Sample rate in Hz.
    public var sampleRate: Int
    /// Number of separate channels; 1 if they are mixed.
    public var channels: Int
    /// Samples per channel in a pixel; the last pixel may have fewer.
    public var samplesPerPixel: Int
    /// Samples per channel in total.
    public var sampleCount = 0
    /// For each pixel, the minimum and maximum sample of each channel.
    public var extremes: [Int16] = []
    /// For each pixel, the mean square of each channel's samples, 1 for full scale; empty if it wasn't requested.
    public var powers: [Float] = []

    /// Number of pixels.
    public var length: Int { extremes.count / max(1, channels.multiplied(upToLimit: 2)) }

    /// Returns the values of one of `count` columns for a channel: the minimum and maximum sample, from -1 to 1, and
    /// the mean square, 0 if it wasn't measured. Nil without samples, and if there is no such column or channel.
    public func column(_ column: Int, of count: Int, channel: Int) -> (
        low: Double, high: Double, power: Double
    )? {
        guard length > 0, (0..<max(0, count)).contains(column), (0..<max(0, channels)).contains(channel)
        else {
            return nil
        }
        func pixel(_ column: Int) -> Int { Int(Int128(column) * Int128(length) / Int128(count)) }
        let first = pixel(column)
        let pixels = first..<min(length, max(first + 1, pixel(column + 1)))
        guard !pixels.isEmpty else { return nil }
        var (low, high, power) = (Int16.max, Int16.min, 0.0)
        for pixel in pixels {
            let index = pixel * channels + channel
            low = min(low, extremes[2 * index])
            high = max(high, extremes[2 * index + 1])
            if powers.indices.contains(index) { power += Double(powers[index]) }
        }
        return (Double(low) / 32_768, Double(high) / 32_768, power / Double(pixels.count))
    }

    /// Creates data without pixels.
    public init(sampleRate: Int, channels: Int, samplesPerPixel: Int) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.samplesPerPixel = samplesPerPixel
    }
}
