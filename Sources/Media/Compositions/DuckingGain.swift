internal import Glibc

/// The gain of a ducked audio item: it falls within 0.1 s when the other item becomes audible, stays down during
/// pauses of up to 0.3 s, and recovers within 0.5 s.
struct DuckingGain {
    private let low: Float
    private let sampleRate: Float
    private var gain: Float = 1
    /// Number of samples since the other item was audible.
    private var quiet: Float = .infinity

    /// Level above which the other item counts as audible: -40 dBFS.
    private static let threshold: Float = 0.01
    private static let (attack, hold, release): (Float, Float, Float) = (0.1, 0.3, 0.5)

    init(_ ducking: Ducking, sampleRate: Int32) {
        low = max(0.000_1, Float(Double(ducking.billionths) / 1e9))
        self.sampleRate = Float(sampleRate)
    }

    /// Returns the gain at the start and at the end of a block of samples, given the other item's level in it.
    mutating func advance(level: Float, samples: Int) -> (from: Float, to: Float) {
        let before = gain
        quiet = level > Self.threshold ? 0 : quiet + Float(samples)
        let seconds = Float(samples) / sampleRate
        // The gain changes exponentially, which is perceived as a constant rate.
        if quiet < Self.hold * sampleRate {
            gain = max(low, gain * exp(log(low) * seconds / Self.attack))
        } else {
            gain = min(1, gain * exp(-log(low) * seconds / Self.release))
        }
        return (before, gain)
    }
}
