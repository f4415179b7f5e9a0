package import LibAV
internal import Locking
internal import Synchronization

/// Determines the filters that normalize audio to a target loudness, by measuring it first.
///
/// If the peaks allow it, the only filter is a gain. Otherwise a limiter follows, at four times the sample rate to
/// catch true peaks; the loss in loudness is measured and compensated. Dynamics are reduced only if a loudness range
/// is requested. The effect of a lossy encoder is measured and compensated too.
///
/// Unchecked `Sendable`: the running measurement is protected by a lock, the rest is immutable.
package final class LoudnessNormalizer: @unchecked Sendable {
    private let asset: Asset
    private let track: AssetTrack
    private let mix: AudioMix?
    private let extent: ReadingExtent
    private let target: LoudnessTarget
    private let encoding: LossyEncoding?
    private let running = Guarded<TrackSamples?>(nil)
    private let isCancelled = Atomic<Bool>(false)

    /// A lossy encoder. The normalizer measures the encoder's decoded output instead of its input.
    package struct LossyEncoding: Sendable {
        package var configuration: EncoderConfiguration
        /// Format of the encoder's input; its `filters` are replaced.
        package var input: AudioOutputSettings
        /// Container of the encoded track.
        package var container: ContainerType

        package init(
            configuration: EncoderConfiguration, input: AudioOutputSettings, container: ContainerType
        ) {
            self.configuration = configuration
            self.input = input
            self.container = container
        }
    }

    /// Creates a normalizer for a range of a track or of a mix; `encoding` is nil for a lossless output.
    package init(
        asset: Asset, track: AssetTrack, mix: AudioMix? = nil, extent: ReadingExtent = ReadingExtent(),
        target: LoudnessTarget, encoding: LossyEncoding? = nil
    ) {
        self.asset = asset
        self.track = track
        self.mix = mix
        self.extent = extent
        self.target = target
        self.encoding = encoding
    }

    /// Result of a normalization: the filter chain, and the loudness before and after it.
    package struct Result: Sendable {
        /// The complete chain, including the given filters.
        package var filters: FilterChain?
        /// Loudness before normalization.
        package var before: Loudness
        /// Predicted loudness after normalization and encoding.
        package var after: Loudness
    }

    /// Measures the audio and returns the complete filter chain: `filters`, a conversion to `layout` (so that the
    /// output's channels are measured), and the normalization. Blocks.
    package func chain(after filters: FilterChain?, layout: ChannelLayout, sampleRate: Int32) throws -> Result
    {
        var steps = Self.steps(after: filters, from: mix?.layout ?? track.format.channelLayout, to: layout)
        let before = try measure(steps)
        guard before.isMeasured else {
            return Result(filters: Self.joined(steps), before: before, after: before)
        }
        var current = before
        if let range = target.range, before.range > range {
            steps.append(
                FilterStep(
                    "loudnorm",
                    [
                        "I": "\(target.integrated)", "TP": "\(target.truePeak)", "LRA": "\(range)",
                        "measured_I": "\(before.integrated)", "measured_TP": "\(before.truePeak)",
                        "measured_LRA": "\(before.range)", "measured_thresh": "\(before.integrated - 10)",
                    ]))
            current = try measure(steps)
        }
        let prepared = Prepared(steps: steps, loudness: current, sampleRate: sampleRate)
        var reached = try normalize(target, from: prepared)
        if let encoding { reached = try correct(reached, from: prepared, for: encoding) }
        return Result(
            filters: Self.joined(prepared.steps(with: reached.setting)), before: before,
            after: reached.loudness)
    }

    /// Returns the filters before the measurement: `filters`, and a conversion to the output's channel layout.
    package static func steps(
        after filters: FilterChain?, from own: ChannelLayout?, to layout: ChannelLayout
    ) -> [FilterStep] {
        let steps = filters?.steps ?? []
        guard own?.specified != layout.specified else { return steps }
        // Floating-point samples can exceed full scale without clipping when channels are mixed; the gain reduces them.
        return steps + [
            FilterStep("aformat", ["sample_fmts": "dblp", "channel_layouts": "\(layout.specified)"])
        ]
    }

    /// Gain and limiter.
    private struct Setting {
        /// Gain in dB.
        var gain: Double
        /// Highest sample behind the limiter, in dB; nil without a limiter.
        var ceiling: Double?
    }

    /// Filter chain before gain and limiter, and the loudness after it.
    private struct Prepared {
        var steps: [FilterStep]
        var loudness: Loudness
        var sampleRate: Int32

        /// Returns the complete chain.
        func steps(with setting: Setting) -> [FilterStep] {
            let louder = steps + [.volume("\(setting.gain)dB")]
            guard let ceiling = setting.ceiling else { return louder }
            return louder + [
                FilterStep("aresample", ["sample_rate": "192000"]),
                FilterStep(
                    "alimiter",
                    [
                        "limit": "\(min(1, max(0.0625, Decibels.factor(ceiling))))", "level": "0",
                        "attack": "1", "release": "80", "latency": "1",
                    ]),
                FilterStep("aresample", ["sample_rate": "\(sampleRate)"]),
            ]
        }
    }
    private typealias Normalized = (setting: Setting, loudness: Loudness)

    /// Determines the gain, and the limiter if it is required. `earlier` is the result for a similar target, from which
    /// the search starts.
    private func normalize(
        _ target: LoudnessTarget, from prepared: Prepared, after earlier: Normalized? = nil
    ) throws -> Normalized {
        var current = prepared.loudness
        var gain = target.integrated - current.integrated
        if current.truePeak + gain <= target.truePeak {
            current.integrated += gain
            current.truePeak += gain
            return (Setting(gain: gain), current)
        }
        // A higher gain compensates for the loudness lost in the limiter. If eight rounds don't converge, the target
        // can't be reached.
        var ceiling = target.truePeak - 0.1
        if let earlier, let before = earlier.setting.ceiling {
            gain =
                earlier.setting.gain + (target.integrated - earlier.loudness.integrated)
                / Self.assumedRemainder
            ceiling = before + target.truePeak - earlier.loudness.truePeak
        }
        var last: (gain: Double, integrated: Double)?
        for _ in 1...8 {
            let setting = Setting(gain: gain, ceiling: ceiling)
            current = try measure(prepared.steps(with: setting))
            let missing = target.integrated - current.integrated
            let excess = current.truePeak - target.truePeak
            if abs(missing) <= Self.tolerance && excess <= 0 { return (setting, current) }
            if abs(missing) > Self.tolerance {
                // The limiter attenuates a part of the added gain. Two measurements show how much remains.
                var remaining = Self.assumedRemainder
                if let last, abs(gain - last.gain) > 0.01 {
                    remaining = (current.integrated - last.integrated) / (gain - last.gain)
                }
                last = (gain, current.integrated)
                gain += missing / min(1, max(0.25, remaining))
            }
            if excess > 0 { ceiling -= excess + 0.05 }
        }
        throw MediaError.loudnessUnreachable(target: target.integrated, reached: current.integrated)
    }

    /// Part of an added gain that is assumed to remain behind the limiter before it is known.
    private static let assumedRemainder = 0.8

    /// Adjusts the target by the encoder's error, in up to four rounds; returns the closest result if none is within
    /// the tolerance. Encoding takes most of the time; the second round usually confirms the correction.
    private func correct(
        _ first: Normalized, from prepared: Prepared, for encoding: LossyEncoding
    ) throws -> Normalized {
        var planned = first
        var best: Normalized?
        var adjusted = target
        for _ in 1...4 {
            let measured = try measure(prepared.steps(with: planned.setting), encoding)
            let candidate = Normalized(planned.setting, measured)
            if best.map({ deviation(measured) < deviation($0.loudness) }) ?? true { best = candidate }
            if deviation(measured) <= Self.tolerance { return candidate }
            adjusted.integrated += target.integrated - measured.integrated
            // A lower ceiling lowers the peaks behind the encoder by about half of the difference. At most full scale,
            // because encoders clip louder samples.
            let excess = max(0, measured.truePeak - target.truePeak)
            adjusted.truePeak = min(
                0, target.truePeak - (measured.truePeak - planned.loudness.truePeak) - excess - 0.05)
            do {
                planned = try normalize(adjusted, from: prepared, after: planned)
            } catch MediaError.loudnessUnreachable {
                break
            }
        }
        return best ?? first
    }

    /// Maximum accepted deviation, in LU and dB.
    private static let tolerance = 0.1

    private func deviation(_ loudness: Loudness) -> Double {
        max(abs(target.integrated - loudness.integrated), loudness.truePeak - target.truePeak)
    }

    private static func joined(_ steps: [FilterStep]) -> FilterChain? {
        steps.isEmpty ? nil : FilterChain(steps)
    }

    private func measure(_ steps: [FilterStep]) throws -> Loudness {
        let samples = try begin(settings(AudioOutputSettings(), steps + [LoudnessReading.step]))
        return try LoudnessMeter(samples: samples).measure()
    }

    private func measure(_ steps: [FilterStep], _ encoding: LossyEncoding) throws -> Loudness {
        try EncodedLoudness(
            samples: try begin(settings(encoding.input, steps)), configuration: encoding.configuration,
            container: encoding.container
        ).measure()
    }

    private func settings(_ audio: AudioOutputSettings, _ steps: [FilterStep]) -> AudioOutputSettings {
        var settings = audio
        settings.filters = Self.joined(steps)
        return settings
    }

    private func begin(_ settings: AudioOutputSettings) throws -> TrackSamples {
        let samples = try TrackSamples(
            asset: asset, track: track, mix: mix, settings: .audio(settings), extent: extent,
            isCancelled: { self.isCancelled.load(ordering: .acquiring) })
        running.withLock { $0 = samples }
        if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
        return samples
    }

    /// Cancels the measurement, from any thread.
    package func cancel() {
        isCancelled.store(true, ordering: .releasing)
        running.withLock { $0 }?.cancel()
    }
}
