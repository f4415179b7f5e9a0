internal import LibAV

/// The samples of one track one after the other, for whoever measures them.
struct TrackSamples: Sendable {
    private let reader: AssetReader
    private let output: AssetReaderOutput
    private let isCancelled: @Sendable () -> Bool

    /// Nothing is read before `start`. `decoderThreads` is nil for what suits; `isCancelled` is asked before every sample.
    init(
        asset: Asset, track: AssetTrack, mix: AudioMix? = nil, settings: ReaderOutputSettings,
        extent: ReadingExtent = ReadingExtent(), decoderThreads: Int? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws {
        reader = try AssetReader(asset: asset)
        reader.extent = extent
        reader.decoderThreads = decoderThreads
        output = try .output(of: track, mix: mix, in: try asset.loadSynchronously(), settings: settings)
        self.isCancelled = isCancelled
        try reader.add(output)
    }

    /// What was left out because it was damaged.
    var damage: DamageTally.Count { output.damagedSamples }

    func start() throws { try reader.startReading() }

    /// The next sample, or nil at the end. Throws `CancellationError` after a cancel.
    func next() throws -> SampleBuffer? {
        if isCancelled() {
            reader.cancelReading()
            throw CancellationError()
        }
        guard let sample = try output.copyNextSampleBuffer() else {
            // A cancel ends the reading too.
            if isCancelled() { throw CancellationError() }
            return nil
        }
        return sample
    }

    /// Interrupts a read that is under way, from any thread.
    func cancel() { reader.cancelReading() }
}
