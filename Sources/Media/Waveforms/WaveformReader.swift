internal import Dispatch
internal import LibAV
internal import Locking

/// Reads an audio track of any length as a waveform. A reader may be used from any queue, by one caller at a time.
public final class WaveformReader: Sendable {
    /// Resolution and channels of the waveform.
    public struct Settings: Hashable, Codable, Sendable {
        /// Samples per channel in a pixel; must be greater than 0.
        public var samplesPerPixel: Int
        /// Whether channels are kept separate; otherwise they are mixed. Default: false.
        public var splitsChannels: Bool
        /// Whether mean squares are measured. Default: false.
        public var measuresPower: Bool

        /// Creates settings; by default, channels are mixed, and mean squares aren't measured.
        public init(samplesPerPixel: Int, splitsChannels: Bool = false, measuresPower: Bool = false) {
            self.samplesPerPixel = samplesPerPixel
            self.splitsChannels = splitsChannels
            self.measuresPower = measuresPower
        }
    }

    private struct State: Sendable {
        var samples: TrackSamples?
        var seconds = 0.0
    }

    private let asset: Asset
    /// The track to read; nil for the first audio track.
    private let track: AssetTrack?
    private let extent: ReadingExtent
    private let audio: AudioOutputSettings
    private let isCancelled: @Sendable () -> Bool
    private let state = Guarded(State())
    /// A separate object, because the samples' `isCancelled` closure must not retain this reader.
    private let cancelFlag = InterruptFlag()

    /// Creates a reader of a track, or of ranges of it. Audio is first converted to the sample rate and channel layout
    /// of `audio`. `isCancelled` is called before every sample.
    public init(
        asset: Asset, track: AssetTrack, extent: ReadingExtent = ReadingExtent(),
        audio: AudioOutputSettings = AudioOutputSettings(),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.asset = asset
        self.track = track
        self.extent = extent
        self.isCancelled = isCancelled
        var audio = audio
        audio.sampleFormat = .s16
        self.audio = audio
    }

    /// Creates a reader of an asset's first audio track, with the track's sample rate and channels.
    public init(asset: Asset) {
        self.asset = asset
        track = nil
        extent = ReadingExtent()
        isCancelled = { false }
        audio = AudioOutputSettings(sampleFormat: .s16)
    }

    /// Cancels a read in progress, which throws `CancellationError`. May be called from any queue.
    public func cancel() {
        cancelFlag.raise()
        state.withLock { $0.samples }?.cancel()
    }

    /// Seconds of audio read so far.
    public var progress: Double { state.withLock { $0.seconds } }

    /// Counts of data skipped because of damage; final when reading has finished.
    public var damage: DamageTally.Count { state.withLock { $0.samples }?.damage ?? DamageTally.Count() }

    /// Reads the whole extent. Time before the track's start and gaps count as silence.
    /// - Throws: `MediaError` if the source can't be read, `CancellationError` if cancelled.
    public func read(_ settings: Settings) throws -> WaveformData {
        guard settings.samplesPerPixel > 0 else {
            throw MediaError.invalidArgument("`samplesPerPixel` must be greater than 0")
        }
        guard
            let track = try track ?? asset.loadSynchronously().tracks.first(where: { $0.mediaType == .audio })
        else { throw MediaError.noTrack(.audio) }
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .audio(audio), extent: extent,
            isCancelled: { [cancelFlag, isCancelled] in cancelFlag.isRaised || isCancelled() })
        state.withLock { $0.samples = samples }
        if cancelFlag.isRaised { throw CancellationError() }
        try samples.start()
        defer { samples.cancel() }
        let origin = extent.ranges.count == 1 ? extent.ranges[0].start : .zero
        var accumulator: WaveformAccumulator?
        while let sample = try samples.next() {
            let time = MediaTime(ticks: sample.pts, timeBase: sample.timeBase) - origin
            try sample.withFrame { frame in
                if accumulator == nil {
                    accumulator = WaveformAccumulator(
                        settings, sampleRate: Int(frame.sampleRate), channels: frame.channelLayout.channels)
                }
                try accumulator?.add(frame, at: time)
            }
            state.withLock { $0.seconds = time.seconds }
        }
        guard var accumulator else { throw MediaError.noSamples(track: track.reference) }
        return accumulator.finish()
    }

    /// Reads the whole extent on a private queue. Cancelling the task cancels the reader, which can't be used
    /// afterwards.
    public func waveform(_ settings: Settings) async throws -> WaveformData {
        try await withTaskCancellationHandler {
            try await DispatchQueue(label: "tandem.waveform").result { try self.read(settings) }
        } onCancel: {
            cancel()
        }
    }
}
