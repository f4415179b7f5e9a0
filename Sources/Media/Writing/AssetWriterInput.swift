public import Dispatch
public import LibAV
internal import Locking
internal import Synchronization

// Unchecked `Sendable`: configuration is immutable after `startWriting`, the encoder is used on the appending queue
// only, and other state is atomic or protected by a mutex.
/// Receives one track's samples, encodes them or copies packets, and passes them to its writer (AVFoundation's
/// `AVAssetWriterInput`). Samples must be appended from one queue.
public final class AssetWriterInput: @unchecked Sendable {
    /// Media type of the track.
    public let mediaType: MediaType
    /// Encoder configuration, or format of copied packets.
    public let settings: WriterInputSettings
    /// Frame rate, for the timecode; nil if there is none. Set before writing starts.
    public var nominalFrameRate: Rational?
    /// Bits per pixel of the source's coded video, from which the number of encoder threads is derived; 0 if unknown.
    var sourceBitsPerPixel = 0.0
    /// Rotation of the frames for display; nil for none. Set before writing starts.
    public var transform: DisplayTransform?
    /// Scaling of frames whose size differs from the encoder's. Set before writing starts. Default: `resizeAspect`.
    public var scalingMode = VideoScalingMode.resizeAspect
    /// Metadata of the track. Set before writing starts.
    public var metadata: [MetadataEntry] = []
    /// Dispositions by libavformat's names. Set before writing starts.
    public var disposition: Set<String> = []
    /// Global side data to write, such as mastering display metadata. Set before writing starts.
    package var sideData: [StreamSideData] = []

    /// Whether samples come from a live source: `append` then returns at once, and drops samples while the encoder is
    /// behind (`expectsMediaDataInRealTime`). Copied packets are never dropped. Set before writing starts. Default:
    /// false.
    public var expectsMediaDataInRealTime = false
    private let live = LiveQueue()
    /// Whether samples are dropped while the encoder is behind. Copied packets are never dropped: writing them is fast,
    /// and packets after a dropped one couldn't be decoded.
    private var isLive: Bool { expectsMediaDataInRealTime && !isPassthrough }
    /// Number of samples dropped because the encoder of a live source was behind, and of frames that fall into the same
    /// tick of the encoder's time base as the frame before.
    public var droppedSamples: Int { live.dropped + thinned.load(ordering: .relaxed) }
    private let thinned = Atomic<Int>(0)
    private let last = Guarded<LastFrame?>(nil)
    /// Whether a session feeds the input from a reader, so that its samples have the requested format and times.
    var isFedByReader = false

    /// Whether the samples are a part of their source, so that codec headers with properties of the whole stream must
    /// be rewritten. Set before writing starts. Default: false.
    package var isPart = false
    /// Whether other work needs the processors, so that encoding isn't divided among them if that takes more processor
    /// time. Set before writing starts. Default: false.
    package var sharesProcessors = false
    /// Maximum number of chunks that are encoded at a time, if the configuration divides the track into chunks; nil for
    /// the number of processors. Set before writing starts. Default: nil.
    package var maxChunks: Int?
    /// Chunks of the track that may be encoded already. Set before writing starts. Default: nil.
    package var storedChunks: StoredChunks?
    /// An identifier for the caller, which the input's errors carry. Default: nil.
    package var id: Int?

    private weak var writer: AssetWriter?
    private(set) var index = 0
    /// The range of the source's time line that is written; the end may be set from another thread.
    struct Session: Sendable {
        var start: MediaTime = .zero
        var end: MediaTime?
        /// Time of the first appended sample.
        var appendedStart: MediaTime?
        /// The latest end of an appended sample.
        var appendedEnd: MediaTime?
        /// The latest end of an appended sample that no edit list hides.
        var shownEnd: MediaTime?
    }
    let session = Guarded(Session())
    /// Times at which segments begin; nil where the input doesn't determine them. Set before writing starts.
    var boundaries: SegmentBoundaries?
    private var stage: (any InputStage)?
    private let appended = Atomic<Int>(0)
    private let hidden = Atomic<Int>(0)
    private let lastTime = Atomic<Int64>(0)

    /// Creates an input; add it to a writer before writing starts.
    public init(mediaType: MediaType, settings: WriterInputSettings) {
        self.mediaType = mediaType
        self.settings = settings
    }

    /// Whether the writer accepts more samples of this track now. False before the session starts, if the track is too
    /// far ahead of others, and after a cancellation. True after an error, which `append` then throws.
    public var isReadyForMoreMediaData: Bool {
        guard isLive else { return writer?.isReady(index) ?? false }
        guard let writer, writer.acceptsSamples(index) else { return false }
        if live.hasRoom { return true }
        writer.markAsleep(index)
        // The queue may have drained meanwhile.
        return live.hasRoom
    }

    /// Calls `block` on `queue` whenever the input accepts samples, until it is marked as finished. A request made
    /// before `startSession`, or before the input is added to a writer, takes effect when the session starts. The block
    /// must append samples while `isReadyForMoreMediaData` is true, and then return. It is also called once after a
    /// cancellation or an error.
    public func requestMediaDataWhenReady(
        on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
    ) {
        let writer = hasWriter.withLock { hasWriter -> AssetWriter? in
            if !hasWriter { earlyRequest = (queue, block) }
            return hasWriter ? self.writer : nil
        }
        writer?.request(index, on: queue, block)
    }
    /// A request made before the input was added to a writer.
    private var earlyRequest: (queue: DispatchQueue, block: @Sendable () -> Void)?

    /// Marks the end of the samples and drains the encoder. Must be called on the appending queue.
    public func markAsFinished() throws {
        guard let writer else {
            throw MediaError.misuse("an input can only be finished after it was added to a writer")
        }
        switch writer.status {
        case .unknown: throw MediaError.misuse("an input can only be finished after startWriting")
        case .working where writer.isFinished(index): throw MediaError.misuse("the input is already finished")
        case .completed: throw MediaError.misuse("the writer is already finished")
        case .working, .failed, .cancelled: break
        }
        do {
            try live.waitUntilEmpty()
            try appendLast()
            if let stage {
                try stage.finish { packet throws(AVError) in
                    noteEncoded(packet, by: stage)
                    writer.enqueue(packet, input: index)
                }
                recorded.withLock { $0 = stage.ending }
            }
            try checkHasPresentedAudio()
            writer.finishInput(index)
        } catch {
            let failure = (error as? AVError).map { MediaError.encoding(track: reference, $0) } ?? error
            writer.fail(failure)
            throw failure
        }
        stage = nil
    }

    /// Throws if all samples of copied audio precede the range.
    private func checkHasPresentedAudio() throws {
        guard isPart, isPassthrough, mediaType == .audio else { return }
        let session = session.withLock { $0 }
        if session.appendedEnd ?? session.start <= session.start {
            throw MediaError.noSamples(track: reference)
        }
    }

    /// Appends a sample. Its time is on the source's time line; the start of the writer's session is subtracted.
    public func append(_ sample: consuming SampleBuffer) throws {
        guard isLive else { return try take(sample) }
        guard try isOpen() else { return }
        try live.add(sample) { [weak self] sample in
            defer { self?.writer?.wakeSleepers() }
            try self?.take(sample)
        }
    }

    /// Returns whether samples are accepted; false after a cancellation, when they are ignored. Throws the writer's
    /// error, or `MediaError.misuse` if the session isn't started or the input is finished.
    func isOpen() throws -> Bool {
        guard let writer, writer.acceptsSamples(index) else {
            if let error = writer?.error { throw error }
            if writer?.status == .cancelled { return false }
            throw MediaError.misuse("samples must be appended between startSession and markAsFinished")
        }
        return true
    }

    /// Registers the last frame of an adaptor, which is appended when the input is finished.
    func register(_ frame: LastFrame) throws {
        guard writer.map({ $0.status == .unknown }) ?? true else {
            throw MediaError.misuse("an adaptor must be created before writing starts")
        }
        try last.withLock { last in
            guard last == nil else { throw MediaError.misuse("the input already has an adaptor") }
            last = frame
        }
    }

    private func appendLast() throws {
        guard case .encode(let settings) = settings, let last = last.withLock({ $0 }), try isOpen() else {
            return
        }
        let unit = settings.timeBase
        let defaultDuration = nominalFrameRate.map {
            MediaTime(ticks: 1, timeBase: $0.inverted).ticks(in: unit)
        }
        let end = session.withLock { $0.end }?.ticks(in: unit, rounding: .up)
        if let sample = last.take(until: end, defaultDuration: defaultDuration, unit) { try take(sample) }
    }

    private func take(_ sample: consuming SampleBuffer) throws {
        guard try isOpen(), let writer else { return }
        try check(sample)
        writer.noteAppend()
        appended.add(sample.sampleCount, ordering: .relaxed)
        let isHidden = mediaType == .video && sample.withPacket({ $0.isDiscarded }) == true
        if isHidden { hidden.add(1, ordering: .relaxed) }
        if !encodesVideo {
            boundaries?.noteSample(at: sample.presentationTime - session.withLock { $0.start })
        }
        let until = MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase)
        let from = MediaTime(ticks: sample.pts, timeBase: sample.timeBase)
        let session = session.withLock { session in
            session.appendedStart = session.appendedStart ?? from
            session.appendedEnd = max(session.appendedEnd ?? until, until)
            if !isHidden { session.shownEnd = max(session.shownEnd ?? until, until) }
            return session
        }
        let shown = (session.shownEnd ?? session.start) - session.start
        lastTime.store(
            max(lastTime.load(ordering: .relaxed), shown.ticks(in: Self.progressUnit)), ordering: .relaxed)
        do {
            guard let stage else { return }
            let isEncoded = !isPassthrough
            try stage.append(sample, start: session.start, end: session.end) { packet throws(AVError) in
                // Silence for a long gap consists of many packets, and the writer may end before the last one.
                guard !isEncoded || writer.status == .working else {
                    throw AVError(code: -125, operation: "encoding", detail: "the writer has ended")
                }
                noteEncoded(packet, by: stage)
                writer.enqueue(packet, input: index)
            }
            if isEncoded, stage.droppedFrames > 0 {
                thinned.store(stage.droppedFrames, ordering: .relaxed)
            }
        } catch let error as AVError {
            if writer.status == .cancelled { return }
            if let error = writer.error { throw error }
            let failure = MediaError.encoding(track: reference, error)
            writer.fail(failure)
            throw failure
        }
    }

    /// Throws if a sample isn't valid for this input. A rejected sample has no effect on later ones.
    private func check(_ sample: borrowing SampleBuffer) throws {
        guard sample.timeBase.isPositive else {
            throw MediaError.invalidArgument(
                "\(reference): the time base of a sample is \(sample.timeBase); expected a positive ratio")
        }
        guard TimeBounds.contain(sample) else {
            throw MediaError.invalidArgument(
                "\(reference): a sample has the time \(sample.pts), the decoding time \(sample.dts) and the duration \(sample.duration) in units of \(sample.timeBase) s; expected at most \(TimeBounds.seconds) s"
            )
        }
        switch settings {
        case .passthrough:
            guard sample.withPacket({ _ in true }) != nil else {
                throw MediaError.invalidArgument(
                    "\(reference) requires packets, because its settings are `passthrough`; \(sample.kind) was appended"
                )
            }
        case .encode(let configuration):
            let isSuitable = sample.withFrame { frame in
                mediaType == .audio
                    ? frame.width == 0 && frame.sampleCount > 0 : frame.width > 0 && frame.height > 0
            }
            guard isSuitable == true else {
                throw MediaError.unsupportedConversion(
                    track: reference, from: sample.kind, to: expected(configuration), nil)
            }
        }
        let session = session.withLock { $0 }
        try stage?.check(sample, start: session.start, end: session.end)
    }

    private func expected(_ configuration: EncoderConfiguration) -> String {
        mediaType == .audio
            ? "audio of \(configuration.sampleRate) Hz and \(configuration.channelLayout?.channels ?? 2) channels"
            : "frames of \(configuration.width)x\(configuration.height)"
    }

    // MARK: Progress and properties

    /// Number of audio samples per channel, frames or packets appended so far.
    public var appendedSamples: Int { appended.load(ordering: .relaxed) }

    /// Number of appended frames that an edit list hides.
    package var hiddenSamples: Int { hidden.load(ordering: .relaxed) }

    /// End of the presented frames, relative to the session's start, if hidden frames were appended after them;
    /// otherwise nil.
    var shownEnd: MediaTime? {
        session.withLock { session in
            guard let shown = session.shownEnd, session.appendedEnd.map({ $0 > shown }) == true else {
                return nil
            }
            return shown - session.start
        }
    }

    /// Returns the number of appended samples in a file that ends at `stop` because of the size limit; `packets` is the
    /// number of packets in it.
    func samples(before stop: MediaTime, packets: Int) -> Int {
        guard case .encode(let configuration) = settings, mediaType == .audio else { return packets }
        let start = session.withLock { ($0.appendedStart ?? $0.start) - $0.start }
        return max(0, Int((stop - start).ticks(in: Rational(1, max(1, configuration.sampleRate)))))
    }

    /// Encoder statistics of the first of two passes, available when the input is finished; nil if the encoder writes
    /// them to a file.
    package var passStatistics: String? { ending.statistics }

    static let progressUnit = Rational(1, 1_000_000)
    /// Latest end of the presented samples appended so far, relative to the session's start.
    package var appendedTime: MediaTime {
        MediaTime(value: lastTime.load(ordering: .relaxed), timescale: 1_000_000)
    }

    /// End of the encoded samples, relative to the session's start, if the stage accepts samples long before it encodes
    /// them; otherwise `appendedTime`.
    var progress: MediaTime {
        let encoded = encodedTime.load(ordering: .relaxed)
        return encoded < 0 ? appendedTime : MediaTime(value: encoded, timescale: 1_000_000)
    }
    private let encodedTime = Atomic<Int64>(-1)

    private func noteEncoded(_ packet: borrowing Packet, by stage: any InputStage) {
        guard stage.encodesLater else { return }
        let end = MediaTime(ticks: packet.pts + packet.duration, timeBase: stage.timeBase).ticks(
            in: Self.progressUnit)
        encodedTime.store(max(encodedTime.load(ordering: .relaxed), end), ordering: .relaxed)
    }

    /// The reference to the input in errors.
    var reference: TrackReference { .output(index: index, mediaType, id: id) }

    /// Whether the encoder's settings have a clean aperture.
    var hasCleanAperture: Bool {
        if case .encode(let configuration) = settings { configuration.cleanAperture != nil } else { false }
    }

    /// Whether video is encoded.
    var encodesVideo: Bool { mediaType == .video && !isPassthrough }

    /// Whether packets are copied.
    var isPassthrough: Bool { if case .passthrough = settings { true } else { false } }

    /// Whether the input was added to a writer.
    var isAttached: Bool { hasWriter.withLock { $0 } }
    private let hasWriter = Guarded(false)

    func attach(to writer: AssetWriter, index: Int) throws {
        try hasWriter.withLock { hasWriter in
            if hasWriter { throw MediaError.misuse("the input already belongs to a writer") }
            hasWriter = true
            self.writer = writer
            self.index = index
        }
    }

    /// Passes a request made before the input was added to the writer.
    func passEarlyRequest() {
        let request = hasWriter.withLock { _ in earlyRequest.take() }
        if let request { writer?.request(index, on: request.queue, request.block) }
    }

    /// Creates the stage that encodes or copies the samples.
    func open(container: ContainerType, globalHeaders: Bool) throws -> (CodecParameters, timeBase: Rational) {
        switch settings {
        case .passthrough(let format, let timeBase):
            let copier = try PacketCopier(
                format.parameters, timeBase: timeBase, mediaType, in: container,
                isFragmented: writer?.isFragmented == true, isSegmented: writer?.segmentProfile != nil,
                isPart: isPart,
                reference: reference
            ) { [weak self] ending in
                self?.recorded.withLock { $0 = ending }
            }
            stage = copier
            return (copier.parameters, timeBase)
        case .encode(let configuration):
            let opening = EncoderOpening(
                configuration: configuration, mediaType: mediaType, container: container,
                globalHeaders: globalHeaders, isFedByReader: isFedByReader,
                isOnlyWork: !sharesProcessors && writer?.inputs.count == 1,
                maxChunks: maxChunks, sourceBitsPerPixel: sourceBitsPerPixel, scaling: scalingMode,
                boundaries: boundaries, storedChunks: storedChunks,
                canStartLate: !container.hasEditLists
                    || writer?.segmentProfile == nil && writer?.publishing != .immediately,
                reference: reference)
            let (encoder, parameters) = try opening.open()
            stage = encoder
            if encoder.encodesLater { encodedTime.store(0, ordering: .relaxed) }
            return (parameters, encoder.timeBase)
        }
    }

    /// Values recorded when the stage has finished, and when copied packets change them.
    var ending: TrackEnding { recorded.withLock { $0 } }
    private let recorded = Guarded(TrackEnding())
}
