public import Dispatch
public import LibAV
internal import Locking
internal import Synchronization

/// Takes one track's samples, compresses them or not, and hands them to its writer (AVFoundation's
/// `AVAssetWriterInput`). Samples are appended from one queue.
///
/// Unchecked `Sendable`: configuration is frozen by `startWriting`; the encoder is touched on the appending queue only.
public final class AssetWriterInput: @unchecked Sendable {
    /// The track's kind.
    public let mediaType: MediaType
    /// What is done with samples.
    public let settings: WriterInputSettings
    /// Frames a second, which a timecode counts. Set before writing starts.
    public var nominalFrameRate: Rational?
    /// Bits a pixel of what video frames are decoded from, by which encoders' threads are chosen; 0 where it isn't known.
    var sourceBitsPerPixel = 0.0
    /// How frames are to be rotated. Set before writing starts.
    public var transform: DisplayTransform?
    /// Tags of the track. Set before writing starts.
    public var metadata: [MetadataEntry] = []
    /// Dispositions by libav's names. Set before writing starts.
    public var disposition: Set<String> = []
    /// Global side data to write (mastering display and the like). Set before writing starts.
    public var sideData: [StreamSideData] = []

    /// Samples come from a source that doesn't wait: `append` returns at once, and drops what comes while the encoder is behind
    /// (`expectsMediaDataInRealTime`). Packets that are written as they are are not dropped. Set before writing starts.
    public var expectsMediaDataInRealTime = false
    private let live = LiveQueue()
    /// Packets cost nothing to write, and those behind a dropped one could not be decoded.
    private var isLive: Bool { expectsMediaDataInRealTime && !isPassthrough }
    /// Samples that were dropped because the encoder was behind.
    public var droppedSamples: Int { live.dropped }
    private let last = Guarded<LastFrame?>(nil)
    /// A session feeds it from a reader: its samples have the form and the times that they were asked for in.
    var isFedByReader = false

    /// Samples are a part of their source: codecs whose headers tell of the whole get others. Set before writing starts.
    public var isPart = false

    /// What copied packets go through.
    private var packetStages: [any PacketStage] = []
    private weak var writer: AssetWriter?
    private(set) var index = 0
    /// The range of the source's time line that is written; the end may come from another thread.
    struct Session: Sendable {
        var start: MediaTime = .zero
        var end: MediaTime?
        /// When the first sample that was appended begins.
        var appendedStart: MediaTime?
        /// The latest end of any sample that was appended.
        var appendedEnd: MediaTime?
        /// The same of those that no edit list hides.
        var shownEnd: MediaTime?
    }
    let session = Guarded(Session())
    private var stage: (any EncoderStage)?
    private let appended = Atomic<Int>(0)
    private let hidden = Atomic<Int>(0)
    private let lastTime = Atomic<Int64>(0)

    /// An input of a kind; add it to a writer before writing starts.
    public init(mediaType: MediaType, settings: WriterInputSettings) {
        self.mediaType = mediaType
        self.settings = settings
    }

    /// The writer wants more of this track now. False when it is too far ahead of the others, after a
    /// cancel, and after an error.
    public var isReadyForMoreMediaData: Bool {
        guard isLive else { return writer?.isReady(index) ?? false }
        guard let writer, writer.isTaking(index) else { return false }
        if live.hasRoom { return true }
        writer.markAsleep(index)
        // It may have become free meanwhile.
        return live.hasRoom
    }

    /// Calls `block` on `queue` whenever the input wants more, until it is marked as finished. The block
    /// appends while `isReadyForMoreMediaData`, then returns. It is called after a cancel or an error too, once.
    public func requestMediaDataWhenReady(
        on queue: DispatchQueue, using block: @escaping @Sendable () -> Void
    ) {
        writer?.request(index, on: queue, block)
    }

    /// Says that no more comes; drains the encoder. Call it on the appending queue.
    public func markAsFinished() throws {
        guard let writer else { throw MediaError.misuse("an input is finished once it has a writer") }
        switch writer.status {
        case .unknown: throw MediaError.misuse("an input is finished after startWriting")
        case .working where writer.isFinished(index): throw MediaError.misuse("an input is finished once")
        case .completed: throw MediaError.misuse("the writer is finished already")
        case .working, .failed, .cancelled: break
        }
        do {
            try live.settle()
            try appendLast()
            for place in packetStages.indices {
                try packetStages[place].finish { packet in try push(packet, from: place + 1, to: writer) }
            }
            if let entry = packetStages.lazy.compactMap({ $0 as? HEVCSampleEntry }).first, entry.hasOtherSets
            {
                recorded.withLock { $0.hasOtherParameterSets = true }
            }
            try stage?.finish { packet throws(AVError) in writer.enqueue(packet, input: index) }
            if let stage = stage as? AudioEncoderStage {
                recorded.withLock {
                    ($0.delay, $0.filledSamples) = (stage.delayedStart, stage.filledSamples)
                }
            }
            if let stage = stage as? VideoEncoderStage {
                recorded.withLock {
                    ($0.statistics, $0.captionsLeft) = (stage.statistics, stage.captionsLeft)
                }
            }
            try checkIsHeard()
            writer.finishInput(index)
        } catch {
            let failure = (error as? AVError).map { MediaError.encoding(track: label, $0) } ?? error
            writer.fail(failure)
            throw failure
        }
        stage = nil
    }

    /// Of audio that pauses through all of a range, what comes before it would be all that there is.
    private func checkIsHeard() throws {
        guard isPart, isPassthrough, mediaType == .audio else { return }
        let session = session.withLock { $0 }
        if session.appendedEnd ?? session.start <= session.start { throw MediaError.noSamples(track: label) }
    }

    /// Takes a sample. Its time is on the source's time line; the writer's session start is taken off.
    public func append(_ sample: consuming SampleBuffer) throws {
        guard isLive else { return try take(sample) }
        guard try isOpen() else { return }
        try live.add(sample) { [weak self] sample in
            defer { self?.writer?.wakeSleepers() }
            try self?.take(sample)
        }
    }

    /// It takes samples now; false after a cancel, when nobody wants them any more. Throws what made the writer fail, or that it isn't
    /// started or is finished.
    func isOpen() throws -> Bool {
        guard let writer, writer.isTaking(index) else {
            if let error = writer?.error { throw error }
            if writer?.status == .cancelled { return false }
            throw MediaError.misuse("samples are appended between startSession and the input's end")
        }
        return true
    }

    /// Takes an adaptor's last frame at the end.
    func adopt(_ frame: LastFrame) throws {
        guard writer.map({ $0.status == .unknown }) ?? true else {
            throw MediaError.misuse("an adaptor is made before writing starts")
        }
        try last.withLock { last in
            guard last == nil else { throw MediaError.misuse("an input has one adaptor") }
            last = frame
        }
    }

    private func appendLast() throws {
        guard case .encode(let settings) = settings, let last = last.withLock({ $0 }), try isOpen() else {
            return
        }
        let unit = settings.timeBase
        let usual = nominalFrameRate.map { MediaTime(ticks: 1, timeBase: $0.inverted).ticks(in: unit) }
        let end = session.withLock { $0.end }?.ticks(in: unit, rounding: .up)
        if let sample = last.take(until: end, usual: usual, unit) { try take(sample) }
    }

    private func take(_ sample: consuming SampleBuffer) throws {
        guard try isOpen(), let writer else { return }
        appended.add(sample.sampleCount, ordering: .relaxed)
        let isHidden = mediaType == .video && sample.withPacket({ $0.isDiscarded }) == true
        if isHidden { hidden.add(1, ordering: .relaxed) }
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
            switch settings {
            case .passthrough(let format, let timeBase):
                try copy(
                    sample, of: format.parameters, timeBase: timeBase, session: session, writer: writer)
            case .encode:
                try stage?.encode(sample, start: session.start, end: session.end) { packet throws(AVError) in
                    writer.enqueue(packet, input: index)
                }
            }
        } catch let error as AVError {
            let failure = MediaError.encoding(track: label, error)
            writer.fail(failure)
            throw failure
        }
    }

    private func copy(
        _ sample: consuming SampleBuffer, of parameters: CodecParameters, timeBase: Rational,
        session: Session,
        writer: AssetWriter
    ) throws {
        let offset = session.start.ticks(in: timeBase)
        let source = sample.timeBase
        let (pts, dts) = (
            source.rescale(sample.pts, to: timeBase) - offset,
            source.rescale(sample.dts, to: timeBase) - offset
        )
        var duration = source.rescale(sample.duration, to: timeBase)
        if let end = session.end.map({ ($0 - session.start).ticks(in: timeBase) }) {
            if pts >= end { return }
            duration = min(duration, end - pts)
        }
        guard let packet = sample.takePacket() else {
            throw MediaError.misuse("a passthrough input takes packets, not frames")
        }
        // A codec's delay before zero is hidden by the muxer, the one of a track that begins late by nobody else.
        if !hasCopied, pts > 0 {
            let told = packet.skippedSamples
            // Matroska says of a packet that nothing of it is heard.
            let isHidden = parameters.frameSize > 0 && told.end >= parameters.frameSize
            // Decoders of Opus know it from its header, and nobody marks a packet.
            let start =
                parameters.traits.hasDelayInHeader
                ? max(told.start, parameters.initialPadding) : told.start
            let padding = Rational(1, max(1, parameters.sampleRate))
                .rescale(Int64(isHidden ? told.end : start), to: timeBase)
            if padding > 0 { recorded.withLock { $0.delay = (pts + padding, padding) } }
        }
        if isGapless {
            // A source's clock may be coarser than samples (Matroska's milliseconds), and a range begins within a packet.
            let slack = Rational(1, 100).rescale(1, to: timeBase)
            let end = copiedEnd ?? (writer.container.keepsNoTimes ? 0 : pts)
            if pts - end > (copiedEnd == nil ? max(slack, duration) : slack) {
                throw MediaError.hole(
                    track: label, container: writer.container.name,
                    from: MediaTime(ticks: end, timeBase: timeBase),
                    to: MediaTime(ticks: pts, timeBase: timeBase))
            }
            copiedEnd = pts + duration
        }
        hasCopied = true
        packet.pts = pts
        packet.dts = dts
        packet.duration = duration
        try push(packet, from: 0, to: writer)
    }

    private func push(_ packet: consuming Packet, from place: Int, to writer: AssetWriter) throws {
        guard place < packetStages.count else { return writer.enqueue(packet, input: index) }
        try packetStages[place].push(packet) { packet in try push(packet, from: place + 1, to: writer) }
    }
    private var hasCopied = false
    /// Samples follow one another whatever times their packets have: movies and bare files say nothing else of PCM.
    private var isGapless = false
    private var copiedEnd: Int64?

    // MARK: What the session and the writer ask

    /// Samples of audio, frames or packets appended so far.
    public var appendedSamples: Int { appended.load(ordering: .relaxed) }

    /// Frames of those that an edit list hides.
    public var hiddenSamples: Int { hidden.load(ordering: .relaxed) }

    /// Where what is shown ends, from the session's start, if frames that were appended after it are hidden.
    var shownEnd: MediaTime? {
        session.withLock { session in
            guard let shown = session.shownEnd, session.appendedEnd.map({ $0 > shown }) == true else {
                return nil
            }
            return shown - session.start
        }
    }

    /// Samples of those appended that are in a file which ends early, given how many packets of the track it has.
    func samples(before stop: MediaTime, packets: Int) -> Int {
        guard case .encode(let configuration) = settings, mediaType == .audio else { return packets }
        let start = session.withLock { ($0.appendedStart ?? $0.start) - $0.start }
        return max(0, Int((stop - start).ticks(in: Rational(1, max(1, configuration.sampleRate)))))
    }

    /// What the first of two passes found out, once it is finished; nil where the encoder keeps a file.
    public var passStatistics: String? { ending.statistics }

    static let progressUnit = Rational(1, 1_000_000)
    /// How far the track has come, from the session's start.
    public var appendedTime: MediaTime {
        MediaTime(value: lastTime.load(ordering: .relaxed), timescale: 1_000_000)
    }

    var label: String { "\(mediaType.rawValue) \(index)" }

    /// Packets come as they are.
    var isPassthrough: Bool { if case .passthrough = settings { true } else { false } }

    /// The unit of the packets that it makes.
    var packetTimeBase: Rational {
        switch settings {
        case .passthrough(_, let timeBase): timeBase
        case .encode(let configuration): stage?.timeBase ?? configuration.timeBase
        }
    }

    /// It has a writer.
    var isAttached: Bool { hasWriter.withLock { $0 } }
    private let hasWriter = Guarded(false)

    func attach(to writer: AssetWriter, index: Int) throws {
        try hasWriter.withLock { hasWriter in
            if hasWriter { throw MediaError.misuse("an input belongs to one writer") }
            hasWriter = true
        }
        self.writer = writer
        self.index = index
    }

    /// Opens the encoder and tells what the track is.
    func open(container: ContainerType, globalHeaders: Bool) throws -> CodecParameters {
        switch settings {
        case .passthrough(let format, let timeBase):
            isGapless =
                container.keepsNoTimes
                || format.parameters.traits.isPCM && container.hasEditLists
            if format.parameters.traits.saysLengthAtStart,
                isPart || !FLACRenumbering.saysLength(format.parameters.extradata)
            {
                packetStages += FLACRenumbering(header: format.parameters.extradata).map { [$0] } ?? []
            }
            packetStages += try container.packetStages(format.parameters, label)
            let parameters = try packetStages.reduce(format.parameters) { try $1.parameters(of: $0) }
            // HE-AAC in a movie whose time base is that of its core: so are the edit lists that every reader expects, and FFmpeg 5.1 doubles
            // what they hide in any other.
            let isOfCore =
                container.hasEditLists && parameters.traits.mayDoubleRate && timeBase.num == 1
                && timeBase.den.multipliedReportingOverflow(by: 2) == (parameters.sampleRate, false)
            return isOfCore ? try parameters.with(sampleRate: timeBase.den) : parameters
        case .encode(let configuration):
            do {
                let encoder = try FrameEncoder.open(
                    configuration.withThreads(
                        cores: activeProcessorCount, sourceBitsPerPixel: sourceBitsPerPixel),
                    globalHeaders: globalHeaders)
                let parameters = encoder.parameters
                stage =
                    mediaType == .audio
                    ? AudioEncoderStage(
                        encoder: encoder, configuration: configuration, container: container,
                        isFedByReader: isFedByReader)
                    : VideoEncoderStage(
                        encoder: encoder, configuration: configuration, isFedByReader: isFedByReader)
                return parameters
            } catch {
                throw MediaError.encoding(track: label, error)
            }
        }
    }

    /// What is known once the encoder is drained, or the first packet copied: how long the track is delayed and how much
    /// of it is the encoder's own delay (for the edit list that libavformat can't write), and silence that was filled in.
    var ending: TrackEnding { recorded.withLock { $0 } }
    private let recorded = Guarded(TrackEnding())
}

/// What is known of a track of audio at its end, in the packets' time base.
struct TrackEnding: Sendable {
    var delay: (delay: Int64, padding: Int64)?
    var statistics: String?
    var filledSamples = 0
    var captionsLeft = 0
    /// Packets of HEVC had parameter sets that the sample entry lacks.
    var hasOtherParameterSets = false
}

/// Turns samples into packets; confined to the appending queue.
protocol EncoderStage: AnyObject {
    var timeBase: Rational { get }
    func encode(
        _ sample: consuming SampleBuffer, start: MediaTime, end: MediaTime?,
        into sink: (consuming Packet) throws(AVError) -> Void
    ) throws
    func finish(into sink: (consuming Packet) throws(AVError) -> Void) throws(AVError)
}
