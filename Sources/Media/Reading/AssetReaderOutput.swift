internal import DequeModule
internal import Dispatch
internal import LibAV
internal import Locking
internal import Synchronization

/// Vends samples in order (AVFoundation's `AVAssetReaderOutput`): those of a track (`AssetReaderTrackOutput`), the sum of several tracks'
/// audio (`AssetReaderAudioMixOutput`) or several tracks' frames as one (`AssetReaderVideoCompositionOutput`).
///
/// Work is done ahead of the caller on the output's own queue, bounded in samples and bytes, so that
/// decoding and what the caller does with the samples run at the same time. A caller that finds nothing
/// ready does the work itself, on that queue: nobody waits on a semaphore.
///
/// Unchecked `Sendable`: the producer is touched on `queue` only, everything else is behind the mutex.
public class AssetReaderOutput: @unchecked Sendable {
    /// What is vended: the track that is read; of several whose audio is added, the first; of several whose frames become one, what
    /// they become.
    public let track: AssetTrack
    /// The asset's tracks that are read.
    public let tracks: [AssetTrack]
    /// The form of the samples.
    public let settings: ReaderOutputSettings
    /// How audio of several tracks becomes one.
    let mix: AudioMix?
    /// How frames of several tracks become one.
    let composing: VideoComposition?

    /// Times are counted in samples where the track's unit is too coarse for that (`AssetTrack.sampleTimeBase`). Decoded
    /// audio always is; of packets, whoever writes them knows. Set before reading starts.
    public var countsSamples: Bool

    private struct Ready: ~Copyable {
        var samples = UniqueDeque<SampleBuffer>()
        var bytes = 0
        /// It has a reader.
        var isAttached = false
        /// It has what samples come from.
        var hasBegun = false
        var isFilling = false
        var isFinished = false
        var isCancelled = false
        /// The producer was told to wait, and may go on since.
        var wasWoken = false
        /// Who found nothing is to be told when something comes.
        var isAwaited = false
        var error: (any Error)?
        var formChange: MediaTime?
        var fieldsBegin: MediaTime?
        /// A sample is not due yet, and who asked is told when it is.
        var isPaused = false
        /// Where the last sample that was vended ends.
        var position: MediaTime?
    }

    private let queue = DispatchQueue(label: "tandem.output")
    private let ready = Guarded(Ready())
    private var producer: (any SampleProducer)?
    private let dropped = Atomic<Int>(0)
    /// Where outputs share a decoder, they share this too. Set before reading starts.
    var damage = DamageTally()
    /// Called, on any queue, when something comes where there was nothing yet. Set before reading starts.
    var arrival: (@Sendable () -> Void)?
    /// Samples are vended no sooner than they are due. Set before reading starts.
    var pace: PlaybackPace?
    /// Called when nothing more is wanted. Set before reading starts.
    var ending: (@Sendable () -> Void)?
    /// Who calls `copyNextSampleBuffer` of an output that shares its decoder waits here.
    private let arrived = DispatchSemaphore(value: 0)
    /// What the edges of a cut were made of.
    let cutEvidence = CutEvidence()

    /// Samples made ahead; more than a decoder's own delay is not needed, since that is held inside it.
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

    /// An output of a track, or where there is a mix, of that; `contents` are its asset's.
    package static func output(
        of track: AssetTrack, mix: AudioMix?, in contents: AssetContents, settings: ReaderOutputSettings
    ) throws -> AssetReaderOutput {
        guard let mix, case .audio(let audio) = settings else {
            return AssetReaderTrackOutput(track: track, settings: settings)
        }
        return try AssetReaderAudioMixOutput(tracks: contents.tracks, audioMix: mix, settings: audio)
    }

    /// What is read is one track as it is, so that its decoder can be shared.
    var isOfOneTrack: Bool { mix == nil && composing == nil }

    /// What was left out because it was damaged.
    public var damagedSamples: DamageTally.Count { damage.count }

    /// Samples left out because their times did not increase.
    public var droppedSamples: Int { dropped.load(ordering: .relaxed) }

    /// When the source's frames or audio first had another form than before, from the start of the output.
    public var formChange: MediaTime? { ready.withLock { $0.formChange } }

    /// When the source's frames first were interlaced after progressive ones, and deinterlaced from there on, from the start of the output.
    public var fieldsBegin: MediaTime? { ready.withLock { $0.fieldsBegin } }

    /// Where the last sample that was vended ends, on the asset's time line: a reader whose range begins there goes on without a frame
    /// or a sample lost or doubled, of what is decoded. Nil before the first.
    public var position: MediaTime? { ready.withLock { $0.position } }

    /// It has a reader.
    var isAttached: Bool { ready.withLock { $0.isAttached } }

    func attach() throws {
        try ready.withLock { ready in
            if ready.isAttached { throw MediaError.misuse("an output belongs to one reader") }
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
            return Self.takeAwaited(&ready) || wasPaused
        }
        ending?()
        if isAwaited { tell() }
        // What the producer holds (decoder, demuxer) goes when its queue gets round to it.
        queue.async { @Sendable in self.producer = nil }
    }

    /// The next sample, or nil when there is no more: at the end, after an error (which the reader's status
    /// and this call's `throws` tell), or after a cancel (AVFoundation's `copyNextSampleBuffer()`). Where outputs share
    /// a decoder (`AssetReader.sharesDecoders`), it may wait until the others are read.
    public func copyNextSampleBuffer() throws -> SampleBuffer? {
        while true {
            switch try nextSample() {
            case .sample(let sample): return sample
            case .ended: return nil
            case .pending: arrived.wait()
            }
        }
    }

    /// The same for who doesn't wait: told that there is nothing yet, it is called by `arrival`.
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
                        // One timer at a time.
                        setsTimer = !ready.isPaused
                        ready.isPaused = true
                        return nil
                    }
                }
                if let sample = ready.samples.popFirst() {
                    ready.bytes -= sample.byteCount
                    ready.position = MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase)
                    shouldFill = ready.samples.count <= lowWater && !ready.isFilling && !ready.isFinished
                    if shouldFill { ready.isFilling = true }
                    return sample
                }
                failure =
                    ready.hasBegun
                    ? ready.error : MediaError.misuse("an output vends samples once its reader was started")
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

    /// What the producer waits for has come.
    func wake() {
        ready.withLock { $0.wasWoken = true }
        fillAhead()
    }

    private static func takeAwaited(_ ready: inout Ready) -> Bool {
        defer { ready.isAwaited = false }
        return ready.isAwaited
    }

    /// A sample is due.
    private func resume() {
        let wasPaused = ready.withLock { ready in
            defer { ready.isPaused = false }
            return ready.isPaused
        }
        if wasPaused { tell() }
    }

    private func tell() {
        if let arrival { arrival() } else { arrived.signal() }
    }

    /// Packets cost next to nothing to make, and runs of audio little, a change of queue much more: they are made many at a time.
    private var turn: Int {
        switch settings {
        case .passthrough, .wholePackets: 32
        case .audio: 16
        default: 1
        }
    }
    /// More are made once no more than so many are left.
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
            // One turn at a time: a caller who waits for the queue comes next.
            let goesOn = self.ready.withLock { ready in
                let hasRoom =
                    ready.samples.count < Self.aheadSamples
                    && (ready.bytes < Self.aheadBytes || ready.samples.count < 2)
                ready.isFilling =
                    hasRoom && !ready.isFinished && !ready.isCancelled && (!isPending || ready.wasWoken)
                return ready.isFilling
            }
            if goesOn { self.scheduleFill() }
        }
    }

    /// Makes the samples of one turn; on `queue`. True where there is nothing to make them of yet.
    private func produce() -> Bool {
        guard let producer else { return false }
        ready.withLock { $0.wasWoken = false }
        var failure: (any Error)?
        do {
            var count = 0
            while case .sample(let sample) = try supply(of: producer) {
                var made: SampleBuffer? = consume sample
                var isAwaited = false
                let goesOn = ready.withLock { ready in
                    guard !ready.isCancelled, let sample = made.take() else { return false }
                    ready.bytes += sample.byteCount
                    ready.samples.append(sample)
                    isAwaited = Self.takeAwaited(&ready)
                    return ready.bytes < Self.aheadBytes
                }
                if isAwaited { tell() }
                count += 1
                if !goesOn || count == turn { return false }
            }
            if isHeldBack { return true }
        } catch {
            failure = error
        }
        let isAwaited = ready.withLock { ready in
            ready.error = failure
            ready.isFinished = true
            return Self.takeAwaited(&ready)
        }
        dropped.store(producer.droppedSamples, ordering: .relaxed)
        let (change, fields) = (producer.formChange, producer.fieldsBegin)
        ready.withLock { ($0.formChange, $0.fieldsBegin) = (change, fields) }
        self.producer = nil
        ending?()
        if isAwaited { tell() }
        return false
    }

    /// The producer's answer, of which it is noted whether it waits; on `queue`.
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

    /// Finished, and whether with an error.
    var outcome: (isFinished: Bool, error: (any Error)?) {
        ready.withLock { ($0.isFinished && $0.samples.isEmpty, $0.error) }
    }
}
