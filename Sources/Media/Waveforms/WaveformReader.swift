internal import Dispatch
internal import LibAV
internal import Locking

/// Reads a track of audio as a waveform, all of it, whatever its length. A reader may be used from any queue, by one caller at a
/// time.
public final class WaveformReader: Sendable {
    /// What is taken of the audio.
    public struct Settings: Hashable, Codable, Sendable {
        /// Samples of each channel in a pixel.
        public var samplesPerPixel: Int
        /// Each channel by itself; otherwise their mean.
        public var splitsChannels: Bool
        /// Powers are measured too.
        public var measuresPower: Bool

        /// Makes settings.
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
    /// Nil for the first of audio.
    private let track: AssetTrack?
    private let extent: ReadingExtent
    private let audio: AudioOutputSettings
    private let isCancelled: @Sendable () -> Bool
    private let state = Guarded(State())
    /// An object of its own: what reads asks it, and is kept by this reader.
    private let givenUp = InterruptFlag()

    /// A reader of a track of an asset, and of what of it; `audio` says what rate and what channels it is brought to first;
    /// `isCancelled` is asked while it reads.
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

    /// A reader of the first track of audio of an asset, as it is.
    public init(asset: Asset) {
        self.asset = asset
        track = nil
        extent = ReadingExtent()
        isCancelled = { false }
        audio = AudioOutputSettings(sampleFormat: .s16)
    }

    /// Ends what is under way with `CancellationError`, from any queue.
    public func cancel() {
        givenUp.raise()
        state.withLock { $0.samples }?.cancel()
    }

    /// Seconds of audio that were read.
    public var progress: Double { state.withLock { $0.seconds } }

    /// What was left out because it is damaged, known when all is read.
    public var damage: DamageTally.Count { state.withLock { $0.samples }?.damage ?? DamageTally.Count() }

    /// Reads all of it. What has no audio (a late start, a hole) is silent.
    /// - Throws: `MediaError` where the source can't be read, `CancellationError` after a cancel.
    public func read(_ settings: Settings) throws -> WaveformData {
        guard settings.samplesPerPixel > 0 else { throw MediaError.misuse("a pixel has at least one sample") }
        guard
            let track = try track ?? asset.loadSynchronously().tracks.first(where: { $0.mediaType == .audio })
        else { throw MediaError.noTrack(.audio) }
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .audio(audio), extent: extent,
            isCancelled: { [givenUp, isCancelled] in givenUp.isRaised || isCancelled() })
        state.withLock { $0.samples = samples }
        if givenUp.isRaised { throw CancellationError() }
        try samples.start()
        defer { samples.cancel() }
        let origin = extent.ranges.count == 1 ? extent.ranges[0].start : .zero
        var gathering: WaveformGathering?
        while let sample = try samples.next() {
            let time = MediaTime(ticks: sample.pts, timeBase: sample.timeBase) - origin
            try sample.withFrame { frame in
                if gathering == nil {
                    gathering = WaveformGathering(
                        settings, sampleRate: Int(frame.sampleRate), channels: frame.channelLayout.channels)
                }
                try gathering?.add(frame, at: time)
            }
            state.withLock { $0.seconds = time.seconds }
        }
        guard var gathering else { throw MediaError.noSamples(track: track.label) }
        return gathering.finish()
    }

    /// The same on a queue of its own; where the task is cancelled, so is the reading, and this reader is of no more use.
    public func waveform(_ settings: Settings) async throws -> WaveformData {
        try await withTaskCancellationHandler {
            try await DispatchQueue(label: "tandem.waveform").result { try self.read(settings) }
        } onCancel: {
            cancel()
        }
    }
}
