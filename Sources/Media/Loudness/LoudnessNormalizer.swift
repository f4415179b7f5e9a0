public import LibAV
internal import Locking

/// Finds the filters that bring sound to a loudness, by measuring it first.
///
/// Where the peaks allow, that is a gain alone, and the sound is otherwise untouched. Where they don't, a limiter
/// follows that works on four times as many samples, so that true peaks are seen; what it takes away is measured and
/// given back. Dynamics are only made smaller where a range is asked for.
///
/// Unchecked `Sendable`: the meter that runs is behind a lock, the rest never changes.
public final class LoudnessNormalizer: @unchecked Sendable {
    private let asset: Asset
    private let track: AssetTrack
    private let mix: AudioMix?
    private let extent: ReadingExtent
    private let target: LoudnessTarget
    private let running = Guarded<(meter: LoudnessMeter?, isCancelled: Bool)>((nil, false))

    /// A normaliser for a stretch of a track, or of a mix.
    public init(
        asset: Asset, track: AssetTrack, mix: AudioMix? = nil, extent: ReadingExtent = ReadingExtent(),
        target: LoudnessTarget
    ) {
        self.asset = asset
        self.track = track
        self.mix = mix
        self.extent = extent
        self.target = target
    }

    /// What was found.
    public struct Result: Sendable {
        /// The whole chain, those before included.
        public var filters: FilterChain?
        /// As it was.
        public var before: Loudness
        /// As it will be.
        public var after: Loudness
    }

    /// Measures, and tells the chain. `filters` come first, then sound is mixed to `layout`, so that the loudness
    /// is that of what is heard. Blocks.
    public func chain(after filters: FilterChain?, layout: ChannelLayout, sampleRate: Int32) throws -> Result
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
        var gain = target.integrated - now.integrated
        if now.truePeak + gain <= target.truePeak {
            steps.append(Self.volume(gain))
            now.integrated += gain
            now.truePeak += gain
            return Result(filters: Self.joined(steps), before: before, after: now)
        }
        // What the limiter takes is given back before it; a few rounds come near enough, or can't.
        var ceiling = target.truePeak - 0.1
        for _ in 1...8 {
            let limiter = FilterStep(
                "alimiter",
                [
                    "limit": "\(max(0.0625, Decibels.factor(ceiling)))", "level": "0", "attack": "1",
                    "release": "80", "latency": "1",
                ])
            let limited =
                steps + [
                    Self.volume(gain), FilterStep("aresample", ["sample_rate": "192000"]), limiter,
                    FilterStep("aresample", ["sample_rate": "\(sampleRate)"]),
                ]
            now = try measure(limited)
            let missing = target.integrated - now.integrated
            let excess = now.truePeak - target.truePeak
            if abs(missing) <= 0.1 && excess <= 0 {
                return Result(filters: Self.joined(limited), before: before, after: now)
            }
            // The harder the limiter works, the less of a gain comes through.
            if abs(missing) > 0.1 { gain += missing * (missing > 0 ? 1.5 : 1) }
            if excess > 0 { ceiling -= excess + 0.05 }
        }
        throw MediaError.loudnessOutOfReach(target: target.integrated, reached: now.integrated)
    }

    private static func joined(_ steps: [FilterStep]) -> FilterChain? {
        steps.isEmpty ? nil : FilterChain(steps)
    }

    private static func volume(_ gain: Double) -> FilterStep { .volume("\(gain)dB") }

    private func measure(_ steps: [FilterStep]) throws -> Loudness {
        let meter = try LoudnessMeter(
            asset: asset, track: track, mix: mix, extent: extent, filters: Self.joined(steps))
        let goesOn = running.withLock { running in
            running.meter = meter
            return !running.isCancelled
        }
        guard goesOn else { throw CancellationError() }
        return try meter.measure()
    }

    /// Gives up, from any thread.
    public func cancel() {
        let meter = running.withLock { running in
            running.isCancelled = true
            return running.meter
        }
        meter?.cancel()
    }
}
