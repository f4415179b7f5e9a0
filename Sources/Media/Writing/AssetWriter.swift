internal import DequeModule
internal import Dispatch
public import FoundationEssentials
public import LibAV
internal import Locking
internal import Synchronization
package import Publishing
internal import FileSystem

// Unchecked `Sendable`: configuration is immutable after `startWriting`, the muxer is used on `queue` only, and the
// rest is atomic or protected by a mutex.
/// Writes one file from any number of inputs (AVFoundation's `AVAssetWriter`). A writer is used once. By default its
/// file is temporary until it is finished, and is removed after an error or a cancel; see ``PublicationTime``. A writer
/// of segments writes no file, and passes its segments to a delegate.
///
/// Packets of the inputs are queued and written in order of their decoding times. The input that is furthest behind is
/// always ready; so tracks stay interleaved, memory use is bounded, and deadlocks are impossible. A single caller that
/// appends to its inputs in turn, and waits until each is ready, may have more data queued than callers on separate
/// queues. If it waits for one input although only another one is ready, the writer fails with `MediaError.stalled`.
public final class AssetWriter: @unchecked Sendable {
    /// Container format of the file.
    public let container: ContainerType
    /// The temporary file, until it is published; nil for segments.
    package let output: TemporaryFile?
    /// Segments in place of a file.
    let segments: SegmentOutput?
    /// Metadata of the file as a whole. Keys that the container doesn't store (`ContainerType.metadataKeys`) are
    /// dropped; mov stores any key. Set before writing starts.
    public var metadata: [MetadataEntry] = []
    /// Chapters of the output. Set before writing starts.
    public var chapters: [AssetChapter] = []
    /// Cover images to embed. Set before writing starts.
    package var covers: [CoverArt] = []
    /// Attached files. Set before writing starts.
    package var attachments: [AttachedFile] = []
    /// Whether the index is written to the start of the file (`faststart`). Set before writing starts. Default:
    /// false.
    public var shouldOptimizeForNetworkUse = false
    /// Approximate duration of fragments, for containers that support them (`movieFragmentInterval`); nil for a file
    /// without fragments, or fragments of 2 s if the file is published immediately. A fragment ends at the first
    /// keyframe after the interval, at the latest after twice the interval. Set before writing starts.
    public var movieFragmentInterval: MediaTime?
    /// Duration of segments (`preferredOutputSegmentInterval`): a segment begins at the first keyframe at or after each
    /// multiple of it, counted from the session's start. These keyframes are requested from video encoders; audio without
    /// video begins with the packet nearest to the time. Nil for segments that `flushSegment` ends. Set before writing
    /// starts. Default: 6 s.
    public var preferredOutputSegmentInterval: MediaTime? = MediaTime(value: 6, timescale: 1)
    /// Start times of the second and later segments, ascending, in place of multiples of the interval: a segment begins
    /// at the first keyframe at or after each of them. Set before writing starts.
    package var segmentStartTimes: [MediaTime]?
    /// Time of the session's start on the segments' time line (`initialSegmentStartTime`), from which the decoding times
    /// of segments (`tfdt`, or the timestamps of transport streams) count; for example the end of an earlier writer's
    /// segments. Set before writing starts. Default: 0.
    public var initialSegmentStartTime = MediaTime.zero
    /// The time at which the file gets its name.
    public let publishing: PublicationTime
    /// Maximum size of the file in bytes: all tracks end together when the limit is reached
    /// (`AVAssetExportSession.fileLengthLimit`); nil for no limit. Set before writing starts.
    public var fileLengthLimit: Int64?
    /// The inputs, in track order.
    public private(set) var inputs: [AssetWriterInput] = []

    let publishesItself: Bool
    /// Whether a session publishes the file, when all of its writers have finished. Set before writing starts.
    var isHeld = false
    let queue = DispatchQueue(label: "tandem.mux")
    var muxer: Muxer?
    /// Used on `queue` only.
    var gate: FileSizeLimiter?
    /// Used on `queue` only.
    var pacer: FragmentScheduler?
    /// Size in bytes of a file that is published immediately, up to the end of its last complete fragment. Used on
    /// `queue` only.
    var completeSize: Int64 = 0
    /// Whether the sample entries are complete. Used on `queue` only.
    var hasEntryBoxes = false
    /// Parameters of each track that the header determined; set before packets are written.
    var tracks: [OutputHeader.Track] = []
    var headers = UniqueDeque<Packet>()
    var movieTimescale: Int32 = 1000
    let state = Guarded(WriterState())
    private let written = Atomic<Int64>(0)
    private let companions = Guarded<[Companion]>([])

    /// Creates a writer for a temporary file, which the caller publishes after `finishWriting`.
    package init(output: TemporaryFile, container: ContainerType) {
        self.output = output
        segments = nil
        self.container = container
        publishing = .whenFinished
        publishesItself = false
    }

    /// Creates a writer that passes segments to a delegate as they are complete, and writes no file
    /// (`AVAssetWriter(contentType:)`). The writer retains the delegate until it has ended. Supported inputs are video
    /// and audio; `cmaf` has one input.
    public init(segments profile: SegmentProfile, delegate: any AssetWriterDelegate) {
        output = nil
        segments = SegmentOutput(profile: profile, delegate: delegate)
        container = profile.container
        publishing = .whenFinished
        publishesItself = false
    }

    /// Creates a writer that publishes its file at a URL: by default when it is finished, or immediately when writing
    /// starts. An existing file is not replaced: throws now, or when the file is published if it was created
    /// meanwhile. Throws `MediaError.unplayableUnfinished` if the container can't be published immediately.
    public init(url: URL, container: ContainerType, publishing: PublicationTime = .whenFinished) throws {
        guard url.isFileURL else { throw MediaError.invalidArgument("the URL must be a file URL") }
        if publishing == .immediately, !container.isPlayableUnfinished {
            throw MediaError.unplayableUnfinished(container: container.name)
        }
        if TemporaryFile.fingerprint(path: url.path) != nil { throw PublishingError.destinationExists }
        output = try TemporaryFile(destination: url.path, in: .anywhere)
        segments = nil
        self.container = container
        self.publishing = publishing
        publishesItself = true
    }

    /// Duration of the fragments, or of what else is flushed together; nil without fragments.
    private var fragmentInterval: MediaTime? {
        if segments != nil { return preferredOutputSegmentInterval ?? Self.defaultFragmentInterval }
        return switch publishing {
        case .immediately: movieFragmentInterval ?? Self.defaultFragmentInterval
        case .whenFinished: container.hasFragments ? movieFragmentInterval : nil
        }
    }

    private static let defaultFragmentInterval = MediaTime(value: 2, timescale: 1)

    /// Whether the file consists of fragments with an index each.
    var isFragmented: Bool { container.hasFragments && fragmentInterval != nil }

    /// Adds an input, before writing starts. An input belongs to one writer. `canAdd` checks whether the container
    /// supports the codec; otherwise `startWriting` throws.
    public func add(_ input: AssetWriterInput) throws {
        if let problem = problem(adding: input) { throw problem }
        try input.attach(to: self, index: inputs.count)
        inputs.append(input)
        state.withLock { $0.inputs.append(WriterState.Input()) }
        input.passEarlyRequest()
    }

    /// State of the writer; `working` after `startWriting`.
    public var status: SessionStatus { state.withLock { $0.status } }
    /// The error if the writer failed; nil otherwise.
    public var error: (any Error)? { state.withLock { $0.error } }
    /// Number of packets written so far, by input.
    package var writtenPackets: [Int] { state.withLock { $0.inputs.map(\.packets) } }
    /// Size of the packets written so far in bytes, by input; 0 with a size limit.
    package var bytesOfInputs: [Int64] { state.withLock { $0.inputs.map(\.writtenBytes) } }
    /// Time on the output's time line at which the size limit was reached; later samples are discarded. Nil
    /// otherwise.
    public var stop: MediaTime? { state.withLock { $0.stop } }
    /// Number of packet bytes passed to the muxer so far.
    public var writtenBytes: Int64 { written.load(ordering: .relaxed) }

    /// Opens the encoders and writes the header.
    public func startWriting() throws {
        try state.withLock { state in
            guard state.status == .unknown else {
                throw MediaError.misuse("a writer can only be started once")
            }
            guard !state.inputs.isEmpty else { throw MediaError.misuse("a writer requires an input") }
            state.status = .working
        }
        do {
            try queue.sync { try open() }
        } catch {
            let failure = (error as? AVError).map(MediaError.writing) ?? error
            fail(failure)
            throw failure
        }
    }

    private func open() throws {
        let starts = try makeSegmentStarts()
        let header = OutputHeader(
            container: container, inputs: inputs, metadata: metadata,
            chapters: hasLateChapters ? [] : chapters, covers: covers,
            attachments: attachments, isForNetwork: shouldOptimizeForNetworkUse,
            isFragmented: isFragmented, segments: segments)
        let opened = try header.write(to: output?.descriptor)
        tracks = opened.tracks
        movieTimescale = opened.movieTimescale
        state.withLock { state in
            for (index, track) in opened.tracks.enumerated() {
                state.inputs[index].timeBase = track.packetTimeBase
            }
        }
        muxer = consume opened.muxer
        if let fileLengthLimit { gate = makeGate(limit: fileLengthLimit) }
        if let fragmentInterval {
            pacer = FragmentScheduler(
                tracks: zip(inputs, tracks).map { ($0.mediaType, $1.timeBase) },
                interval: fragmentInterval, setsDurations: container.hasFragments || segments != nil,
                segmentStarts: starts)
        }
        segments?.entryBoxes = tracks.map(\.entryBoxes)
        segments?.setTracks(
            zip(inputs, tracks).map { ($0.mediaType, $1.timeBase) }, start: initialSegmentStartTime)
        if publishing == .immediately {
            try output?.publish(replacing: false)
            // The writer may have been cancelled meanwhile.
            if status == .cancelled { output?.withdraw() }
        }
    }

    private func makeGate(limit: Int64) -> FileSizeLimiter {
        let model = OutputSizeModel(
            container: container,
            tracks: zip(inputs, tracks).map {
                OutputSizeModel.Track(mediaType: $0.mediaType, codec: $1.codec, headerSize: $1.headerSize)
            })
        let tags = metadata + inputs.flatMap(\.metadata)
        let written = muxer?.position ?? 0
        return FileSizeLimiter(
            limit: limit,
            bytes: written + model.fixed(tags: tags, chapters: chapters, covers: covers, written: written),
            model: model, canShorten: container.hasEditLists,
            tracks: zip(inputs, tracks).map { ($0.mediaType, $1.packetTimeBase) })
    }

    /// Whether chapters are written at the end of the file, because the size limit may shorten it.
    var hasLateChapters: Bool { fileLengthLimit != nil && container.model.canWriteChaptersLate }

    /// Sets the source time that corresponds to the output's time zero (`startSession(atSourceTime:)`). Call once,
    /// before the first sample.
    public func startSession(atSourceTime start: MediaTime) throws {
        try state.withLock { state in
            guard state.status == .working, !state.isStartingSession else {
                throw MediaError.misuse("a session can only be started once, after startWriting")
            }
            state.isStartingSession = true
        }
        for input in inputs { input.session.withLock { $0.start = start } }
        state.withLock { $0.hasStartedSession = true }
        wakeSleepers()
    }

    /// Sets the source time at which the output ends (`endSession(atSourceTime:)`). Samples appended afterwards are
    /// dropped if they are past the end, and shortened if they extend past it. Throws if a later sample was already
    /// appended, because an encoder can't return it.
    public func endSession(atSourceTime end: MediaTime) throws {
        guard state.withLock({ $0.status == .working && $0.hasStartedSession }) else {
            throw MediaError.misuse(
                "a session must be ended after it was started and before the writer finishes")
        }
        for input in inputs {
            let isLate = input.session.withLock { session in
                if session.appendedEnd.map({ $0 > end }) == true || end < session.start { return true }
                session.end = end
                return false
            }
            if isLate {
                throw MediaError.misuse("the session can't end before samples that were already appended")
            }
        }
    }

    // MARK: Incoming packets

    func isReady(_ index: Int) -> Bool {
        let (isReady, isStalled) = state.withLock { state -> (Bool, Bool) in
            if state.status == .failed { return (true, false) }
            let isReady = state.isReady(index)
            guard !isReady else { return (true, false) }
            state.inputs[index].isAsleep = true
            switch state.notePoll() {
            case .waits: return (false, false)
            case .alternates: return (state.isReady(index), false)
            case .stalls: return (true, true)
            }
        }
        if isStalled { fail(MediaError.stalled(stallDescription)) }
        return isReady
    }

    /// Returns whether the writer accepts samples for an input: it is running, and the input isn't finished.
    func acceptsSamples(_ index: Int) -> Bool {
        state.withLock { $0.status == .working && $0.hasStartedSession && !$0.inputs[index].isFinished }
    }

    /// Records an append, so that a caller waiting for another input isn't considered stalled.
    func noteAppend() { state.withLock { $0.polls = nil } }

    /// Returns whether the input was marked as finished.
    func isFinished(_ index: Int) -> Bool { state.withLock { $0.inputs[index].isFinished } }

    /// Marks an input as sleeping: its callback is called again when the state changes.
    func markAsleep(_ index: Int) { state.withLock { $0.inputs[index].isAsleep = true } }

    func request(_ index: Int, on queue: DispatchQueue, _ block: @escaping @Sendable () -> Void) {
        let isEarly = state.withLock { state in
            state.inputs[index].request = (queue, block)
            // Before the session starts, the request is stored.
            let isEarly = state.isEarly
            state.inputs[index].isAsleep = isEarly
            return isEarly
        }
        if !isEarly { queue.async(execute: block) }
    }

    /// Releases the callbacks, because they retain the session, which retains this writer.
    func endRequests() {
        state.withLock { state in
            for input in state.inputs { input.request = nil }
        }
    }

    func enqueue(_ packet: consuming Packet, input index: Int) {
        var pending: Packet? = consume packet
        let shouldDrain = state.withLock { state -> Bool in
            guard state.status == .working, state.stop == nil, let packet = pending.take() else {
                return false
            }
            let input = state.inputs[index]
            let key = input.timeBase.rescale(packet.dts, to: AssetWriterInput.progressUnit)
            input.newestKey = max(input.newestKey, key)
            input.bytes += packet.size
            state.polls = nil
            if let pace = state.pace { pace.value.append(pace.first + index, key: key, bytes: packet.size) }
            input.waiting.append(WriterState.Waiting(packet: packet, key: key))
            return state.beginDrain()
        }
        if shouldDrain { scheduleDrain() }
    }

    func finishInput(_ index: Int) {
        let shouldDrain = state.withLock { state -> Bool in
            state.inputs[index].isFinished = true
            state.inputs[index].request = nil
            if let pace = state.pace { pace.value.finish(pace.first + index) }
            return state.beginDrain()
        }
        if shouldDrain { scheduleDrain() }
        wakeSleepers()
    }

    private func scheduleDrain() { queue.async { @Sendable in self.drain() } }

    /// Writes packets in order until an unfinished input has none; runs on `queue`.
    func drain() {
        while true {
            var index = 0
            var next: Packet?
            state.withLock { state in
                guard state.status == .working, state.stop == nil, let found = state.nextInput,
                    let waiting = state.inputs[found].waiting.popFirst()
                else {
                    state.isDraining = false
                    return
                }
                index = found
                let packet = waiting.packet
                state.inputs[found].bytes -= packet.size
                if let pace = state.pace { pace.value.remove(pace.first + found, bytes: packet.size) }
                if fileLengthLimit == nil, !packet.isHeader {
                    state.inputs[found].packets += 1
                    state.inputs[found].writtenBytes += Int64(packet.size)
                }
                next = consume packet
            }
            guard let packet = next.take() else { break }
            do {
                try limitAndWrite(packet, input: index)
            } catch {
                fail(MediaError.writing(error))
                break
            }
            wakeSleepers()
        }
        wakeSleepers()
    }

    /// Passes a packet through the size limiter, if there is one. Final codec headers are kept until all packets are
    /// written.
    private func limitAndWrite(_ packet: consuming Packet, input index: Int) throws(AVError) {
        if packet.isHeader {
            packet.streamIndex = index
            return headers.append(packet)
        }
        guard gate != nil else { return try write(packet, input: index) }
        let stop = try gate?.take(packet, track: index) { packet, index throws(AVError) in
            try writeCounted(packet, input: index)
        }
        if let stop { end(at: stop) }
    }

    /// Ends the file at the size limit: drops queued packets and wakes the inputs' callbacks.
    func end(at stop: MediaTime) {
        if stop <= .zero {
            fail(MediaError.nothingFits(limit: fileLengthLimit ?? 0))
            return
        }
        state.withLock { state in
            state.stop = stop
            state.dropWaiting()
        }
        wakeSleepers()
    }

    func writeCounted(_ packet: consuming Packet, input index: Int) throws(AVError) {
        try write(packet, input: index)
        state.withLock { $0.inputs[index].packets += 1 }
    }

    func write(_ packet: consuming Packet, input index: Int) throws(AVError) {
        try tracks[index].trimming?.mark(packet)
        let track = tracks[index]
        let (from, to) = (track.packetTimeBase, track.timeBase)
        // Demuxers subtract Matroska's codec delay, so it is added here.
        packet.pts = from.rescale(packet.pts + track.codecDelay, to: to)
        packet.dts = from.rescale(packet.dts + track.codecDelay, to: to)
        packet.duration = from.rescale(packet.duration, to: to)
        packet.streamIndex = index
        written.add(Int64(packet.size), ordering: .relaxed)
        guard let pacer else { return try writeToMuxer(packet) }
        if let earlier = pacer.take(packet, track: index) { try write(earlier, pacedBy: pacer) }
    }

    func write(_ packet: borrowing Packet, pacedBy pacer: FragmentScheduler) throws(AVError) {
        let begins = pacer.begins(with: packet, track: packet.streamIndex) { index in
            state.withLock { $0.inputs[index].isFinished && $0.inputs[index].waiting.isEmpty }
        }
        if begins { try endFragment() }
        if let segments {
            segments.note(packet, track: packet.streamIndex)
            segments.move(packet, track: packet.streamIndex)
        }
        try writeToMuxer(packet)
    }

    /// Writes a packet. If the muxer or a bitstream filter rejects the data of a copied packet, the error concerns the
    /// packet, not the destination.
    private func writeToMuxer(_ packet: borrowing Packet) throws(AVError) {
        do {
            try muxer?.write(packet)
        } catch {
            let index = packet.streamIndex
            if error.isInvalidData, inputs[index].isPassthrough, packet.pts != noTimestamp {
                let time = MediaTime(ticks: packet.pts, timeBase: tracks[index].timeBase)
                fail(
                    MediaError.incompatiblePacket(
                        track: inputs[index].reference, at: time, container: container.name, error))
            }
            throw error
        }
    }

    /// Calls the callbacks of sleeping inputs that accept samples again, in this writer and in the session's other
    /// writers.
    func wakeSleepers() {
        wakeOwnSleepers()
        for writer in companions.withLock({ $0 }) { writer.value?.wakeOwnSleepers() }
    }

    /// Adds the writer to the flow control of a session with several writers, or with inputs that share a decoder. Must
    /// be called before writing starts. `first` is the session-wide index of this writer's first input.
    func join(_ pace: SessionPace, first: Int, companions: [AssetWriter]) {
        state.withLock { $0.pace = (pace, first) }
        self.companions.withLock { $0 = companions.filter { $0 !== self }.map(Companion.init) }
    }

    private struct Companion: Sendable {
        weak let value: AssetWriter?
        init(_ writer: AssetWriter) { value = writer }
    }

    private func wakeOwnSleepers() {
        let wakes = state.withLock { state -> [(queue: DispatchQueue, block: @Sendable () -> Void)] in
            var wakes: [(queue: DispatchQueue, block: @Sendable () -> Void)] = []
            if state.isEarly { return [] }
            for (index, input) in state.inputs.enumerated() where input.isAsleep && !input.isFinished {
                guard let request = input.request,
                    state.status != .working || state.stop != nil || state.isReady(index)
                else { continue }
                input.isAsleep = false
                wakes.append(request)
            }
            return wakes
        }
        for wake in wakes { wake.queue.async(execute: wake.block) }
    }

    /// Description of the inputs that wait and those they wait for, such as "audio 1 waits for video 0: 64 packets
    /// queued".
    var stallDescription: String {
        state.withLock { state in
            let behind = state.inputs.indices.filter {
                state.inputs[$0].waiting.isEmpty && !state.inputs[$0].isFinished
            }
            let names = behind.map { inputs[$0].reference.description }.joined(separator: ", ")
            let waits = state.inputs.indices.filter { !state.inputs[$0].waiting.isEmpty }.map {
                "\(inputs[$0].reference) waits for \(names.isEmpty ? "the disk" : names): "
                    + "\(state.inputs[$0].waiting.count) packets queued"
            }
            return waits.isEmpty ? "no samples from \(names)" : waits.joined(separator: "; ")
        }
    }
}
