internal import DequeModule
internal import Dispatch
internal import LibAV
internal import Locking
internal import Synchronization

// Unchecked `Sendable`: the producer is accessed on `queue` only, sample state is protected by a mutex, and the other
// properties are set before reading starts.
/// Vends samples in order (AVFoundation's `AVAssetReaderOutput`): those of one track (`AssetReaderTrackOutput`), the
/// sum of several tracks' audio (`AssetReaderAudioMixOutput`), or the composed frames of several tracks
/// (`AssetReaderVideoCompositionOutput`).
///
/// Samples are produced ahead of the caller on the output's own queue, within limits of samples and bytes, so that
/// decoding runs concurrently with the processing of samples. If no sample is ready, the caller's thread produces one
/// on that queue instead of waiting on a semaphore.
public class AssetReaderOutput: @unchecked Sendable {
    /// The track that is read; for a mix, the first of its tracks; for a video composition, the composed
    /// track.
    public let track: AssetTrack
    /// The tracks of the asset that are read.
    public let tracks: [AssetTrack]
    /// Kind and format of the samples.
    public let settings: ReaderOutputSettings
    /// Mix of several tracks' audio; nil for other outputs.
    let mix: AudioMix?
    /// Composition of several tracks' frames; nil for other outputs.
    let composing: VideoComposition?

    /// Whether times count audio samples if the track's time base can't represent sample positions
    /// (`AssetTrack.sampleTimeBase`). Default: true for decoded audio, false for packets. Set before reading
    /// starts.
    public var countsSamples: Bool

    /// Subtitles that are drawn into decoded frames, after their conversion; nil for none. Set before reading starts.
    public var burnedSubtitles: BurnedSubtitles?

    /// Whether subtitle events keep their times where a range begins or ends inside of them. Set before reading starts.
    var keepsEventTimes = false

    private struct Ready: ~Copyable {
        var samples = UniqueDeque<SampleBuffer>()
        var bytes = 0
        /// Whether the output belongs to a reader.
        var isAttached = false
        /// Whether the output has a producer.
        var hasBegun = false
        var isFilling = false
        var isFinished = false
        var isCancelled = false
        /// Whether the producer that returned `pending` may continue.
        var wasWoken = false
        /// Whether a caller received `pending` and waits for the next sample.
        var isAwaited = false
        var error: (any Error)?
        var formatChange: MediaTime?
        var interlacedFrom: MediaTime?
        /// Whether a timer runs because the next sample isn't due yet.
        var isPaused = false
        /// End of the last vended sample.
        var position: MediaTime?
    }

    private let queue = SerialQueue(label: "tandem.output")
    private let ready = Guarded(Ready())
    private var producer: (any SampleProducer)?
    private let dropped = Atomic<Int>(0)
    /// Damage of the output's tracks; shared by outputs that share a decoder. Set before reading starts.
    var damage = DamageTally()
    /// Called on any queue when a sample is available after `nextSample` returned `pending`. Set before
    /// reading starts.
    var onSample: (@Sendable () -> Void)?
    /// Limit on the rate of vended samples; nil for none. Set before reading starts.
    var pace: PlaybackPace?
    /// Called when no more samples are needed. Set before reading starts.
    var onEnd: (@Sendable () -> Void)?
    /// Signaled when a sample is available for a caller of `copyNextSampleBuffer` that waits for a shared
    /// decoder.
    private let arrived = DispatchSemaphore(value: 0)
    /// Record of how the edges of a smart cut were produced.
    let cutEvidence = CutEvidence()

    /// Maximum number of samples produced ahead. Frames that the decoder holds for reordering aren't included.
    private static let aheadSamples = 4
    private static let aheadBytes = 48 << 20

    init(
        _ track: AssetTrack, of tracks: [AssetTrack], settings: ReaderOutputSettings, mix: AudioMix? = nil,
        composing: VideoComposition? = nil
    ) {
        (self.track, self.tracks, self.settings) = (track, tracks, settings)
        (self.mix, self.composing) = (mix, composing)
        if case .audio = settings { countsSamples = true } else { countsSamples = false }
    }

    /// Creates an output of a track, or of a mix or a composition if there is one; `contents` are those of the tracks'
    /// asset.
    package static func output(
        of track: AssetTrack, mix: AudioMix?, composing: VideoComposition? = nil, in contents: AssetContents,
        settings: ReaderOutputSettings
    ) throws -> AssetReaderOutput {
        if let composing, case .video(let video) = settings {
            return try AssetReaderVideoCompositionOutput(
                tracks: contents.tracks, videoComposition: composing, settings: video)
        }
        guard let mix, case .audio(let audio) = settings else {
            return AssetReaderTrackOutput(track: track, settings: settings)
        }
        return try AssetReaderAudioMixOutput(tracks: contents.tracks, audioMix: mix, settings: audio)
    }

    /// Whether a single track is read, without a mix or a composition, so that its decoder can be shared.
    var isOfOneTrack: Bool { mix == nil && composing == nil }

    /// Counts of samples skipped because of damage, and of leading frames.
    public var damagedSamples: DamageTally.Count { damage.count }

    /// Number of samples dropped because their times didn't increase.
    public var droppedSamples: Int { dropped.load(ordering: .relaxed) }

    /// Time at which the format of the source's frames or audio first changed, from the start of the output;
    /// nil if it didn't.
    public var formatChange: MediaTime? { ready.withLock { $0.formatChange } }

    /// Time of the first interlaced frame after progressive ones, from the start of the output; frames are
    /// deinterlaced from there on. Nil if there is none.
    public var interlacedFrom: MediaTime? { ready.withLock { $0.interlacedFrom } }

    /// End of the last vended sample, on the asset's time line; nil before the first sample. A reader whose
    /// range starts there continues without a missing or repeated frame or audio sample, if samples are
    /// decoded.
    public var position: MediaTime? { ready.withLock { $0.position } }

    /// Whether the output belongs to a reader.
    var isAttached: Bool { ready.withLock { $0.isAttached } }

    func attach() throws {
        try ready.withLock { ready in
            if ready.isAttached { throw MediaError.misuse("the output already belongs to a reader") }
            ready.isAttached = true
        }
    }

    func begin(_ producer: any SampleProducer) {
        queue.sync { self.producer = producer }
        ready.withLock { $0.hasBegun = true }
        fillAhead()
    }

    func cancel() {
        let isAwaited = ready.withLock { ready in
            ready.isCancelled = true
            ready.samples = UniqueDeque()
            ready.bytes = 0
            let wasPaused = ready.isPaused
            ready.isPaused = false
            return Self.takeRequest(&ready) || wasPaused
        }
        onEnd?()
        if isAwaited { notify() }
        // The producer, with its decoder and demuxer, is released on its queue.
        queue.async { @Sendable in self.producer = nil }
    }

    /// Returns the next sample; nil at the end and after a cancellation (AVFoundation's `copyNextSampleBuffer()`). If
    /// outputs share a decoder (`AssetReader.sharesDecoders`), the call may block until the other outputs are read.
    /// - Throws: the error that ended the output, or `MediaError.misuse` before reading starts.
    public func copyNextSampleBuffer() throws -> SampleBuffer? {
        while true {
            switch try nextSample() {
            case .sample(let sample): return sample
            case .ended: return nil
            case .pending: arrived.wait()
            }
        }
    }

    private let waiting = DispatchQueue(label: "tandem.output.waiting")

    /// Returns the next sample without blocking the caller; nil at the end. A sample that was produced ahead is returned
    /// immediately; otherwise the call suspends until one is produced. Cancelling the task ends the output.
    /// - Throws: the error that ended the output, `MediaError.misuse` before reading starts, or `CancellationError`.
    public func next() async throws -> SampleBuffer? {
        if Task.isCancelled {
            cancel()
            throw CancellationError()
        }
        if pace == nil {
            var shouldFill = false
            let sample = ready.withLock { pop(&$0, &shouldFill) }
            if shouldFill { scheduleFill() }
            if let sample { return sample }
        }
        let box = SampleBox()
        try await withTaskCancellationHandler {
            try await waiting.result { box.sample = try self.copyNextSampleBuffer() }
        } onCancel: {
            cancel()
        }
        guard let sample = box.sample.take() else {
            try Task.checkCancellation()
            return nil
        }
        return sample
    }

    /// A sample on its way between queues. Unchecked `Sendable`: it has one owner at a time.
    private final class SampleBox: @unchecked Sendable {
        var sample: SampleBuffer?
    }

    /// Takes a sample that was produced ahead; nil if there is none. `shouldFill`: whether to produce more.
    private func pop(_ ready: inout Ready, _ shouldFill: inout Bool) -> SampleBuffer? {
        guard let sample = ready.samples.popFirst() else { return nil }
        ready.bytes -= sample.byteCount
        ready.position = MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase)
        shouldFill = ready.samples.count <= lowWater && !ready.isFilling && !ready.isFinished
        if shouldFill { ready.isFilling = true }
        return sample
    }

    /// Returns the next sample without waiting. After `pending`, `onSample` is called when the caller may
    /// continue.
    func nextSample() throws -> SampleSupply {
        while true {
            var shouldFill = false
            var isDone = false
            var failure: (any Error)?
            var pause: DispatchTimeInterval?
            var setsTimer = false
            let sample = ready.withLock { ready -> SampleBuffer? in
                if ready.isCancelled {
                    isDone = true
                    return nil
                }
                if let pace, !ready.samples.isEmpty {
                    let time = MediaTime(ticks: ready.samples[0].dts, timeBase: ready.samples[0].timeBase)
                    pause = pace.wait(for: time)
                    if pause != nil {
                        // At most one timer runs at a time.
                        setsTimer = !ready.isPaused
                        ready.isPaused = true
                        return nil
                    }
                }
                if let sample = pop(&ready, &shouldFill) { return sample }
                failure =
                    ready.hasBegun
                    ? ready.error : MediaError.misuse("samples can only be read after the reader was started")
                isDone = ready.isFinished
                return nil
            }
            if shouldFill { scheduleFill() }
            if let sample { return .sample(sample) }
            if let pause {
                if setsTimer {
                    queue.asyncAfter(deadline: .now() + pause) { @Sendable [weak self] in self?.resume() }
                }
                return .pending
            }
            if let failure { throw failure }
            if isDone { return .ended }
            let isPending = queue.sync { needsOne() && produce() }
            guard isPending else { continue }
            let mustWait = ready.withLock { ready in
                guard needsOne(ready), !ready.wasWoken else { return false }
                ready.isAwaited = true
                return true
            }
            if mustWait { return .pending }
        }
    }

    /// Resumes production after the producer returned `pending`.
    func wake() {
        ready.withLock { $0.wasWoken = true }
        fillAhead()
    }

    private static func takeRequest(_ ready: inout Ready) -> Bool {
        defer { ready.isAwaited = false }
        return ready.isAwaited
    }

    /// Ends a pause: the next sample is due.
    private func resume() {
        let wasPaused = ready.withLock { ready in
            defer { ready.isPaused = false }
            return ready.isPaused
        }
        if wasPaused { notify() }
    }

    private func notify() {
        if let onSample { onSample() } else { arrived.signal() }
    }

    /// Number of samples produced per block of work on `queue`: producing a packet or a block of audio costs less than
    /// switching queues.
    private var turn: Int {
        switch settings {
        case .passthrough, .wholePackets: 32
        case .audio: 16
        default: 1
        }
    }
    /// Production resumes when at most this number of samples is ready.
    private var lowWater: Int { turn > 1 ? 8 : Int.max }

    private func needsOne() -> Bool { ready.withLock { needsOne($0) } }

    private func needsOne(_ ready: borrowing Ready) -> Bool {
        ready.samples.isEmpty && !ready.isFinished && !ready.isCancelled
    }

    private func fillAhead() {
        let shouldFill = ready.withLock { ready in
            guard !ready.isFilling, !ready.isFinished, !ready.isCancelled else { return false }
            ready.isFilling = true
            return true
        }
        if shouldFill { scheduleFill() }
    }

    private func scheduleFill() {
        queue.async { @Sendable in
            let isPending = self.produce()
            // The next block is scheduled only now, so that a caller waiting for the queue precedes it.
            let continues = self.ready.withLock { ready in
                let hasRoom =
                    ready.samples.count < Self.aheadSamples
                    && (ready.bytes < Self.aheadBytes || ready.samples.count < 2)
                ready.isFilling =
                    hasRoom && !ready.isFinished && !ready.isCancelled && (!isPending || ready.wasWoken)
                return ready.isFilling
            }
            if continues { self.scheduleFill() }
        }
    }

    /// Produces the samples of one block of work, on `queue`. Returns true if the producer is pending.
    private func produce() -> Bool {
        guard let producer else { return false }
        ready.withLock { $0.wasWoken = false }
        var failure: (any Error)?
        do {
            var count = 0
            while case .sample(let sample) = try supply(of: producer) {
                var produced: SampleBuffer? = consume sample
                var isAwaited = false
                let continues = ready.withLock { ready in
                    guard !ready.isCancelled, let sample = produced.take() else { return false }
                    ready.bytes += sample.byteCount
                    ready.samples.append(sample)
                    isAwaited = Self.takeRequest(&ready)
                    return ready.bytes < Self.aheadBytes
                }
                if isAwaited { notify() }
                count += 1
                if !continues || count == turn { return false }
            }
            if isHeldBack { return true }
        } catch {
            failure = error
        }
        let isAwaited = ready.withLock { ready in
            ready.error = failure
            ready.isFinished = true
            return Self.takeRequest(&ready)
        }
        dropped.store(producer.droppedSamples, ordering: .relaxed)
        let (change, fields) = (producer.formatChange, producer.interlacedFrom)
        ready.withLock { ($0.formatChange, $0.interlacedFrom) = (change, fields) }
        self.producer = nil
        onEnd?()
        if isAwaited { notify() }
        return false
    }

    /// Returns the producer's next sample, and records in `isHeldBack` whether it is pending; on `queue`.
    private func supply(of producer: any SampleProducer) throws -> SampleSupply {
        isHeldBack = false
        switch try producer.next() {
        case .sample(let sample): return .sample(sample)
        case .ended: return .ended
        case .pending:
            isHeldBack = true
            return .pending
        }
    }
    private var isHeldBack = false

    /// Whether all samples were vended, and the error that ended production.
    var outcome: (isFinished: Bool, error: (any Error)?) {
        ready.withLock { ($0.isFinished && $0.samples.isEmpty, $0.error) }
    }
}
