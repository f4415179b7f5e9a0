internal import LibAV

/// Reads the samples of one track in order, for measurements.
struct TrackSamples: Sendable {
    private let reader: AssetReader
    private let output: AssetReaderOutput
    private let isCancelled: @Sendable () -> Bool

    /// Creates a reader; reading begins with `start`. If `decoderThreads` is nil, the track determines the number of
    /// threads. `isCancelled` is called before every sample.
    init(
        asset: Asset, track: AssetTrack, mix: AudioMix? = nil, settings: ReaderOutputSettings,
        burnedSubtitles: BurnedSubtitles? = nil, extent: ReadingExtent = ReadingExtent(),
        decoderThreads: Int? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        reader = try AssetReader(asset: asset)
        reader.extent = extent
        reader.decoderThreads = decoderThreads
        output = try .output(of: track, mix: mix, in: try asset.loadSynchronously(), settings: settings)
        output.burnedSubtitles = burnedSubtitles
        self.isCancelled = isCancelled
        try reader.add(output)
    }

    /// Counts of data skipped because of damage.
    var damage: DamageTally.Count { output.damagedSamples }

    func start() throws { try reader.startReading() }

    /// Returns the next sample, or nil at the end. Throws `CancellationError` if cancelled.
    func next() throws -> SampleBuffer? {
        if isCancelled() {
            reader.cancelReading()
            throw CancellationError()
        }
        guard let sample = try output.copyNextSampleBuffer() else {
            // The output also ends when the reader is cancelled.
            if isCancelled() { throw CancellationError() }
            return nil
        }
        return sample
    }

    /// Interrupts a read in progress. May be called from any thread.
    func cancel() { reader.cancelReading() }
}
