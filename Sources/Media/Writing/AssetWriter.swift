internal import Dispatch
public import FoundationEssentials
public import LibAV
internal import Locking
internal import Synchronization
package import Publishing
internal import FileSystem

// Unchecked `Sendable`: configuration is immutable after `startWriting`, the muxed output and the delegate
// are used on `queue` only, and the rest is atomic or protected by a mutex.
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
    /// Format of segments in place of a file; nil for a file.
    let segmentProfile: SegmentProfile?
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

    private let publishesItself: Bool
    /// Whether a session publishes the file, when all of its writers have finished. Set before writing starts.
    var isHeld = false
    private let queue = DispatchQueue(label: "tandem.mux")
    /// Nil before the header is written, and after the writer has failed or was cancelled. Used on `queue`
    /// only.
    private var muxed: MuxedOutput?
    /// Receives the segments; nil after the writer has ended. Used on `queue` only.
    private var delegate: (any AssetWriterDelegate)?
    private let state = Guarded(WriterState())
    private let written = Atomic<Int64>(0)
    private let companions = Guarded<[Companion]>([])

    /// Creates a writer for a temporary file, which the caller publishes after `finishWriting`.
    package init(output: TemporaryFile, container: ContainerType) {
        self.output = output
        segmentProfile = nil
        self.container = container
        publishing = .whenFinished
        publishesItself = false
    }

    /// Creates a writer that passes segments to a delegate as they are complete, and writes no file
    /// (`AVAssetWriter(contentType:)`). The writer retains the delegate until it has ended. Supported inputs are video
    /// and audio; `cmaf` has one input.
    public init(segments profile: SegmentProfile, delegate: any AssetWriterDelegate) {
        output = nil
        segmentProfile = profile
        self.delegate = delegate
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
        segmentProfile = nil
        self.container = container
        self.publishing = publishing
        publishesItself = true
    }

    /// Duration of the fragments, or of what else is flushed together; nil without fragments.
    private var fragmentInterval: MediaTime? {
        if segmentProfile != nil { return preferredOutputSegmentInterval ?? Self.defaultFragmentInterval }
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
            let failure = Self.failure(error)
            fail(failure)
            throw failure
        }
    }

    private func open() throws {
        let settings = segmentSettings
        try settings?.validate()
        let starts = settings?.makeStarts(for: inputs)
        let segments = settings.map {
            SegmentOutput(profile: $0.profile, start: $0.start, inputs: inputs) {
                [unowned self] data, report in try deliver(data, report)
            }
        }
        let header = OutputHeader(
            container: container, inputs: inputs, metadata: metadata, chapters: chapters,
            writesChaptersLate: hasLateChapters, covers: covers, attachments: attachments,
            isForNetwork: shouldOptimizeForNetworkUse, isFragmented: isFragmented, segments: segments)
        let muxed = try MuxedOutput(
            header, file: output, isPublished: publishing == .immediately, sizeLimit: fileLengthLimit,
            fragmentInterval: fragmentInterval, segmentStarts: starts, flow: flow)
        self.muxed = muxed
        state.withLock { state in
            for (index, timeBase) in muxed.packetTimeBases.enumerated() {
                state.inputs[index].timeBase = timeBase
            }
        }
        if publishing == .immediately {
            try output?.publish(replacing: false)
            // The writer may have been cancelled meanwhile.
            if status == .cancelled { output?.withdraw() }
        }
    }

    /// Access of the muxed output to the inputs' state. The references are unowned, because the writer owns
    /// the output. They are valid, because only methods of the writer call the output.
    private var flow: MuxedOutput.Flow {
        MuxedOutput.Flow(
            hasEnded: { [unowned self] index in state.withLock { $0.hasEnded(index) } },
            countBytes: { [unowned self] size in written.add(Int64(size), ordering: .relaxed) },
            countPacket: { [unowned self] index in state.withLock { $0.inputs[index].packets += 1 } })
    }

    /// Passes a segment to the delegate.
    private func deliver(_ data: Data, _ report: AssetSegmentReport) throws {
        // The delegate may have cancelled the writer.
        guard status == .working else { return }
        try delegate?.assetWriter(
            self, didOutputSegmentData: data, segmentType: report.segmentType, segmentReport: report)
    }

    /// Whether chapters are written at the end of the file, because the size limit may shorten it.
    private var hasLateChapters: Bool { fileLengthLimit != nil && container.model.canWriteChaptersLate }

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
        guard isInSession else {
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

    /// Whether the writer is running, and its session has started.
    var isInSession: Bool { state.withLock { $0.status == .working && $0.hasStartedSession } }

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
            return state.append(packet, input: index)
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
    private func drain() {
        while let next = state.withLock({ $0.takeNext(countsPackets: fileLengthLimit == nil) }) {
            let index = next.index
            let packet = next.packet
            do {
                if let stop = try muxed?.take(packet, input: index) { end(at: stop) }
            } catch {
                fail(error.cause)
                break
            }
            wakeSleepers()
        }
        wakeSleepers()
    }

    /// Ends the file at the size limit: drops queued packets and wakes the inputs' callbacks.
    private func end(at stop: MediaTime) {
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
        let wakes = state.withLock { $0.wakeSleepers() }
        for wake in wakes { wake.queue.async(execute: wake.block) }
    }

    /// Description of the inputs that wait and those they wait for, such as "audio 1 waits for video 0: 64 packets
    /// queued".
    var stallDescription: String {
        let names = inputs.map(\.reference.description)
        return state.withLock { $0.stallDescription(names) }
    }

    /// Time without an appended packet after which a waiting caller is considered stalled.
    var stallTimeout: DispatchTimeInterval {
        get { state.withLock { $0.stallTimeout } }
        set { state.withLock { $0.stallTimeout = newValue } }
    }

    // MARK: Ending

    /// Fails the writer and discards the file; only the first error is kept.
    func fail(_ error: any Error) {
        state.withLock { state in
            guard state.status == .working || state.status == .unknown else { return }
            state.status = .failed
            state.error = error
            state.dropWaiting()
            // Submitted before the failure is visible, so that the completion of `finishWriting` follows.
            if publishing == .immediately { endRecording() }
        }
        if publishing != .immediately { release() }
        wakeSleepers()
    }

    /// Stops writing and discards the file, also if it is published already (`cancelWriting`).
    public func cancelWriting() {
        let isCancelled = state.withLock { state in
            guard [.working, .unknown].contains(state.status), !state.isPublishing else { return false }
            state.status = .cancelled
            state.dropWaiting()
            return true
        }
        guard isCancelled else { return }
        if publishing == .immediately { output?.withdraw() }
        release()
        wakeSleepers()
    }

    /// Truncates a published file to its last complete fragment, or removes it if there is none. On `queue`, because a
    /// fragment may be being written.
    private func endRecording() {
        queue.async { @Sendable in
            guard self.status == .failed else { return }
            let isPlayable = self.muxed?.truncateToLastFragment() ?? false
            self.muxed = nil
            guard !isPlayable else { return }
            self.output?.withdraw()
            self.output?.discard()
        }
    }

    private func release() {
        output?.discard()
        queue.async { @Sendable in
            self.muxed = nil
            self.delegate = nil
        }
    }

    /// Writes the remaining packets and the trailer. A writer created with a URL then syncs its file to disk
    /// and publishes it. Every input must be marked as finished. It is an error if no input of video or audio
    /// has samples in the session (`MediaError.noSamples`). `completion` is called on a private queue.
    public func finishWriting(completion: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { @Sendable in
            let unfinished = self.state.withLock { state in
                state.status != .working || state.inputs.contains { !$0.isFinished }
            }
            guard !unfinished else {
                let error = self.error ?? MediaError.misuse("all inputs must be finished before the writer")
                // After the file was truncated: the writer may have failed while this call waited for `queue`.
                return self.queue.async { @Sendable in completion(error) }
            }
            self.drain()
            do {
                try self.finishLimiter()
                if self.stop == nil { try self.muxed?.writeCodecHeaders() }
                if let error = self.error { throw error }
                try self.muxed?.writeHeldPackets()
                try self.checkContent()
                try self.muxed?.finish()
                try self.finishOutput()
                self.state.withLock { $0.status = .completed }
                completion(nil)
            } catch {
                let cause = (error as? OutputFailure)?.cause
                let failure = (error as? OutputFailure)?.error ?? Self.failure(error)
                self.fail(cause ?? failure)
                // After the file was truncated.
                self.queue.async { @Sendable in completion(self.error ?? failure) }
            }
        }
    }

    /// Returns the error that the writer reports for an error of FFmpeg or of another component.
    private static func failure(_ error: any Error) -> any Error {
        (error as? AVError).map(MediaError.writing) ?? error
    }

    /// Writes the packets that the size limiter kept, and the chapters that depend on the end it determined.
    private func finishLimiter() throws {
        guard let muxed, muxed.isLimited else { return }
        if stop == nil, let stop = try muxed.finishLimiter() { end(at: stop) }
        if error == nil { try muxed.addLateChapters(endingAt: stop) }
    }

    /// Throws if the writer would publish a file whose tracks of video and audio have no samples, which
    /// players can't open.
    private func checkContent() throws {
        guard publishesItself else { return }
        let written = zip(inputs, writtenPackets).filter {
            $0.0.mediaType == .video || $0.0.mediaType == .audio
        }
        guard let first = written.first?.0, written.allSatisfy({ $0.1 == 0 }) else { return }
        throw MediaError.noSamples(track: first.reference)
    }

    /// Publishes the completed file; ends the delivery of segments.
    private func finishOutput() throws {
        guard let output else {
            delegate = nil
            return try beginPublishing()
        }
        if let limit = fileLengthLimit, output.size > limit {
            throw MediaError.overLimit(size: output.size, limit: limit)
        }
        if let error { throw error }
        // A caller that publishes the file syncs it first.
        if publishesItself { try output.synchronize() }
        try beginPublishing()
        if publishesItself, !isHeld { try output.publish(replacing: false) }
    }

    /// Prevents a later cancel, which would publish an empty file. Throws if the writer was cancelled or has failed.
    private func beginPublishing() throws {
        let status = state.withLock { state in
            state.isPublishing = state.status == .working
            return state.status
        }
        if let error { throw error }
        guard status == .working else { throw MediaError.misuse("the writer was cancelled") }
    }

    /// Finishes writing, like `finishWriting(completion:)`.
    public func finishWriting() async throws {
        let failure: (any Error)? = await withCheckedContinuation { continuation in
            finishWriting { @Sendable error in continuation.resume(returning: error) }
        }
        if let failure { throw failure }
    }

    /// Publishes the file if its session deferred publication; the writer must be completed.
    func publishHeld() throws {
        if publishesItself, isHeld { try output?.publish(replacing: false) }
    }
}
