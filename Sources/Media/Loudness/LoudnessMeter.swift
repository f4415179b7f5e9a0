public import LibAV
internal import Synchronization

/// Measures the loudness of a stretch of sound after a chain of filters (libavfilter's `ebur128`).
public final class LoudnessMeter: Sendable {
    private let samples: TrackSamples
    private let isCancelled = Atomic<Bool>(false)

    /// A meter for a track or a mix; `filters` come before it.
    public init(
        asset: Asset, track: AssetTrack, mix: AudioMix? = nil, extent: ReadingExtent = ReadingExtent(),
        filters: FilterChain?,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        var settings = AudioOutputSettings()
        settings.filters = FilterChain(
            (filters?.steps ?? []) + [FilterStep("ebur128", ["peak": "true", "metadata": "1"])])
        samples = try TrackSamples(
            asset: asset, track: track, mix: mix, settings: .audio(settings), extent: extent,
            isCancelled: isCancelled)
    }

    /// Reads everything and tells what it was. Blocks; a cancel makes it throw `CancellationError`.
    public func measure() throws -> Loudness {
        try samples.start()
        var result = Loudness(integrated: -70, truePeak: -120, range: 0)
        while let sample = try samples.next() {
            guard let frame = sample.takeFrame() else { continue }
            func value(_ key: String) -> Double? {
                frame.metadata("lavfi.r128." + key).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
            }
            if let loudness = value("I") { result.integrated = loudness }
            if let range = value("LRA") { result.range = range }
            for channel in 0..<frame.channelLayout.channels {
                // The filter gives the peak as a factor.
                guard let peak = value("true_peaks_ch\(channel)"), peak > 0 else { continue }
                result.truePeak = max(result.truePeak, Decibels.of(factor: peak))
            }
        }
        if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
        return result
    }

    /// Gives up, from any thread.
    public func cancel() {
        isCancelled.store(true, ordering: .releasing)
        samples.cancel()
    }
}
