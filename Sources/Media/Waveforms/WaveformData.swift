/// The lowest and the highest sample of each pixel of a waveform, as audiowaveform has them: samples of 16 bits, so many a pixel.
public struct WaveformData: Sendable, Equatable {
    /// Samples a second.
    public var sampleRate: Int
    /// Channels that are told apart; 1 where they are mixed.
    public var channels: Int
    /// Samples of each channel in a pixel; the last one may have fewer.
    public var samplesPerPixel: Int
    /// Samples of each channel.
    public var sampleCount = 0
    /// For each pixel the lowest and the highest sample of each channel.
    public var extremes: [Int16] = []
    /// For each pixel the mean of the squares of each channel's samples, 1 for full scale; empty where they are not asked for.
    public var powers: [Float] = []

    /// Pixels.
    public var length: Int { extremes.count / max(1, 2 * channels) }

    /// What one of `count` columns shows of a channel: the lowest and the highest sample, from -1 to 1, and the mean of the squares, 0
    /// where powers are not measured. Nil where there are no samples.
    public func column(_ column: Int, of count: Int, channel: Int) -> (
        low: Double, high: Double, power: Double
    )? {
        guard length > 0, count > 0 else { return nil }
        let first = column * length / count
        let pixels = first..<min(length, max(first + 1, (column + 1) * length / count))
        guard !pixels.isEmpty else { return nil }
        var (low, high, power) = (Int16.max, Int16.min, 0.0)
        for pixel in pixels {
            let place = pixel * channels + channel
            low = min(low, extremes[2 * place])
            high = max(high, extremes[2 * place + 1])
            if !powers.isEmpty { power += Double(powers[place]) }
        }
        return (Double(low) / 32_768, Double(high) / 32_768, power / Double(pixels.count))
    }

    /// No samples yet.
    public init(sampleRate: Int, channels: Int, samplesPerPixel: Int) {
        self.sampleRate = sampleRate
        self.channels = channels
        self.samplesPerPixel = samplesPerPixel
    }
}
