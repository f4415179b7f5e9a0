package import LibAV
internal import Synchronization

/// Measures the loudness of a range of audio with libavfilter's `ebur128`, after a chain of other filters.
package final class LoudnessMeter: Sendable {
    private let samples: TrackSamples
    private let isCancelled = Atomic<Bool>(false)

    /// Creates a meter for a track or a mix; `filters` are applied before the measurement.
    package init(
        asset: Asset, track: AssetTrack, mix: AudioMix? = nil, extent: ReadingExtent = ReadingExtent(),
        filters: FilterChain?,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        var settings = AudioOutputSettings()
        settings.filters = FilterChain((filters?.steps ?? []) + [LoudnessReading.step])
        samples = try TrackSamples(
            asset: asset, track: track, mix: mix, settings: .audio(settings), extent: extent,
            isCancelled: isCancelled)
    }

    init(samples: TrackSamples) { self.samples = samples }

    /// Reads all samples and returns the loudness. Blocks; throws `CancellationError` if cancelled.
    package func measure() throws -> Loudness { try read().loudness }

    /// Reads all samples and returns the loudness of each block of them. Blocks; throws `CancellationError` if cancelled.
    package func measureBlocks() throws -> LoudnessBlocks { try read().blocks }

    private func read() throws -> LoudnessReading {
        try samples.start()
        var reading = LoudnessReading()
        while let sample = try samples.next() {
            if let frame = sample.takeFrame() { reading.take(frame) }
        }
        if isCancelled.load(ordering: .acquiring) { throw CancellationError() }
        return reading
    }

    /// Cancels the measurement, from any thread.
    package func cancel() {
        isCancelled.store(true, ordering: .releasing)
        samples.cancel()
    }
}
