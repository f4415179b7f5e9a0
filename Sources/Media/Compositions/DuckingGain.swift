internal import Glibc

/// The gain of what makes room for another run of audio: it goes down within a tenth of a second when the other one is heard, stays there
/// over short pauses, and comes back within half a second.
struct DuckingGain {
    private let low: Float
    private let sampleRate: Float
    private var gain: Float = 1
    /// Samples for which the other one was not heard.
    private var quiet: Float = .infinity

    /// What is louder is heard: -40 dB of full scale.
    private static let threshold: Float = 0.01
    private static let (attack, hold, release): (Float, Float, Float) = (0.1, 0.3, 0.5)

    init(_ ducking: Ducking, sampleRate: Int32) {
        low = max(0.000_1, Float(Double(ducking.billionths) / 1e9))
        self.sampleRate = Float(sampleRate)
    }

    /// The gain at the beginning and at the end of so many samples, while the other one has that level.
    mutating func advance(level: Float, samples: Int) -> (from: Float, to: Float) {
        let before = gain
        quiet = level > Self.threshold ? 0 : quiet + Float(samples)
        let seconds = Float(samples) / sampleRate
        // So many times as quiet, or as loud, in each second: even to the ear.
        if quiet < Self.hold * sampleRate {
            gain = max(low, gain * exp(log(low) * seconds / Self.attack))
        } else {
            gain = min(1, gain * exp(-log(low) * seconds / Self.release))
        }
        return (before, gain)
    }
}
