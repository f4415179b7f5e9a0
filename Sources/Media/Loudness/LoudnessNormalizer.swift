package import LibAV
internal import Locking
internal import Synchronization

/// Finds the filters that bring audio to a loudness, by measuring it first.
///
/// Where the peaks allow, that is a gain alone, and the audio is otherwise untouched. Where they don't, a limiter
/// follows that works on four times as many samples, so that true peaks are seen; what it takes away is measured and
/// given back. Dynamics are only made smaller where a range is asked for. What an encoder with loss makes of it is
/// measured too, and made up for.
///
/// Unchecked `Sendable`: what runs is behind a lock, the rest never changes.
package final class LoudnessNormalizer: @unchecked Sendable {
    private let asset: Asset
    private let track: AssetTrack
    private let mix: AudioMix?
    private let extent: ReadingExtent
    private let target: LoudnessTarget
    private let encoding: LossyEncoding?
    private let running = Guarded<TrackSamples?>(nil)
    private let isCancelled = Atomic<Bool>(false)

    /// An encoder whose output is heard in place of its input.
    package struct LossyEncoding: Sendable {
        /// How it is opened.
        package var configuration: EncoderConfiguration
        /// The form of what it takes; without filters.
        package var input: AudioOutputSettings
        /// Where its packets go.
        package var container: ContainerType

        /// Notes them.
        package init(
            configuration: EncoderConfiguration, input: AudioOutputSettings, container: ContainerType
        ) {
            self.configuration = configuration
            self.input = input
            self.container = container
        }
    }

    /// A normaliser for a range of a track, or of a mix; `encoding` where the output has losses.
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

    /// What was found.
    package struct Result: Sendable {
        /// The whole chain, those before included.
        package var filters: FilterChain?
        /// As it was.
        package var before: Loudness
        /// As it will be, encoded.
        package var after: Loudness
    }

    /// Measures, and tells the chain. `filters` come first, then audio is mixed to `layout`, so that the loudness
    /// is that of what is heard. Blocks.
    package func chain(after filters: FilterChain?, layout: ChannelLayout, sampleRate: Int32) throws -> Result
    {
        var steps = filters?.steps ?? []
        let own = mix?.layout ?? track.format.channelLayout
        if own?.specified != layout.specified {
            // In floating point a mix can exceed full scale without harm; the gain brings it back.
            steps.append(
                FilterStep("aformat", ["sample_fmts": "dblp", "channel_layouts": "\(layout.specified)"]))
        }
        let before = try measure(steps)
        guard before.isMeasured else {
            return Result(filters: Self.joined(steps), before: before, after: before)
        }
        var now = before
        if let range = target.range, before.range > range {
            steps.append(
                FilterStep(
                    "loudnorm",
                    [
                        "I": "\(target.integrated)", "TP": "\(target.truePeak)", "LRA": "\(range)",
                        "measured_I": "\(before.integrated)", "measured_TP": "\(before.truePeak)",
                        "measured_LRA": "\(before.range)", "measured_thresh": "\(before.integrated - 10)",
                    ]))
            now = try measure(steps)
        }
        let stretch = Prepared(steps: steps, loudness: now, sampleRate: sampleRate)
        var reached = try reach(target, from: stretch)
        if let encoding { reached = try correct(reached, from: stretch, for: encoding) }
        return Result(filters: Self.joined(reached.steps), before: before, after: reached.loudness)
    }

    /// Audio after everything but gain and limiter.
    private struct Prepared {
        var steps: [FilterStep]
        var loudness: Loudness
        var sampleRate: Int32
    }
    private typealias Reached = (steps: [FilterStep], loudness: Loudness)

    /// The gain, and the limiter if there must be one.
    private func reach(_ target: LoudnessTarget, from stretch: Prepared) throws -> Reached {
        var now = stretch.loudness
        var gain = target.integrated - now.integrated
        if now.truePeak + gain <= target.truePeak {
            now.integrated += gain
            now.truePeak += gain
            return (stretch.steps + [Self.volume(gain)], now)
        }
        // What the limiter takes is given back before it; a few rounds come near enough, or can't.
        var ceiling = target.truePeak - 0.1
        for _ in 1...8 {
            let limiter = FilterStep(
                "alimiter",
                [
                    "limit": "\(min(1, max(0.0625, Decibels.factor(ceiling))))", "level": "0", "attack": "1",
                    "release": "80", "latency": "1",
                ])
            let limited =
                stretch.steps + [
                    Self.volume(gain), FilterStep("aresample", ["sample_rate": "192000"]), limiter,
                    FilterStep("aresample", ["sample_rate": "\(stretch.sampleRate)"]),
                ]
            now = try measure(limited)
            let missing = target.integrated - now.integrated
            let excess = now.truePeak - target.truePeak
            if abs(missing) <= Self.tolerance && excess <= 0 { return (limited, now) }
            // The harder the limiter works, the less of a gain comes through.
            if abs(missing) > Self.tolerance { gain += missing * (missing > 0 ? 1.5 : 1) }
            if excess > 0 { ceiling -= excess + 0.05 }
        }
        throw MediaError.loudnessOutOfReach(target: target.integrated, reached: now.integrated)
    }

    /// The same for what comes out of the encoder: aims beside the target by what the encoder misses it. The nearest of
    /// a few rounds, where none is near enough.
    private func correct(
        _ first: Reached, from stretch: Prepared, for encoding: LossyEncoding
    ) throws -> Reached {
        var planned = first
        var best: Reached?
        var aim = target
        for _ in 1...4 {
            let made = try measure(planned.steps, encoding)
            let candidate = Reached(planned.steps, made)
            if best.map({ miss(made) < miss($0.loudness) }) ?? true { best = candidate }
            if miss(made) <= Self.tolerance { return candidate }
            aim.integrated += target.integrated - made.integrated
            // Below full scale: an encoder takes nothing louder.
            aim.truePeak = min(0, target.truePeak - (made.truePeak - planned.loudness.truePeak) - 0.05)
            do {
                planned = try reach(aim, from: stretch)
            } catch MediaError.loudnessOutOfReach {
                break
            }
        }
        return best ?? first
    }

    /// How near is near enough, in LU and dB.
    private static let tolerance = 0.1

    private func miss(_ loudness: Loudness) -> Double {
        max(abs(target.integrated - loudness.integrated), loudness.truePeak - target.truePeak)
    }

    private static func joined(_ steps: [FilterStep]) -> FilterChain? {
        steps.isEmpty ? nil : FilterChain(steps)
    }

    private static func volume(_ gain: Double) -> FilterStep { .volume("\(gain)dB") }

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

    private func settings(_ form: AudioOutputSettings, _ steps: [FilterStep]) -> AudioOutputSettings {
        var settings = form
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

    /// Gives up, from any thread.
    package func cancel() {
        isCancelled.store(true, ordering: .releasing)
        running.withLock { $0 }?.cancel()
    }
}
