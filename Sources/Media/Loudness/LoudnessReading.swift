internal import LibAV

/// Loudness accumulated from the frame metadata that libavfilter's `ebur128` writes.
struct LoudnessReading {
    /// The `ebur128` filter; it must be the last one of a chain.
    static let step = FilterStep("ebur128", ["peak": "true", "metadata": "1"])

    private(set) var loudness = Loudness(integrated: -70, truePeak: -120, range: 0)
    private var counter = LoudnessBlocks.Counter()
    /// Blocks of the audio so far.
    var blocks: LoudnessBlocks { counter.blocks }

    mutating func take(_ frame: borrowing Frame) {
        if let integrated = Self.value("I", of: frame) { loudness.integrated = integrated }
        if let range = Self.value("LRA", of: frame) { loudness.range = range }
        if let momentary = Self.value("M", of: frame) { counter.add(momentary) }
        for channel in 0..<frame.channelLayout.channels {
            // The filter reports the peak as an amplitude factor.
            guard let peak = Self.value("true_peaks_ch\(channel)", of: frame), peak > 0 else { continue }
            loudness.truePeak = max(loudness.truePeak, Decibels.of(factor: peak))
            counter.truePeak = loudness.truePeak
        }
    }

    private static func value(_ key: String, of frame: borrowing Frame) -> Double? {
        frame.metadata("lavfi.r128." + key).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
    }
}
