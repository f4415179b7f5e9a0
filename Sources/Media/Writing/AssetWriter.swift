internal import DequeModule
internal import Dispatch
public import FoundationEssentials
public import LibAV
internal import Locking
internal import Synchronization
package import Publishing
internal import FileSystem

/// Writes one file from any number of inputs (AVFoundation's `AVAssetWriter`). A writer is used once; what
/// it writes has no name until it is finished, and leaves nothing behind when it fails or is cancelled.
///
/// Packets of the inputs wait here, are written in the order of their decoding times, and the input that is
/// behind is always ready: so tracks stay interleaved, memory stays bounded, and nothing can deadlock.
///
/// Unchecked `Sendable`: configuration is frozen by `startWriting`, the muxer is touched on `queue` only, and the rest
/// is behind the mutex.
public final class AssetWriter: @unchecked Sendable {
    /// What is written.
    public let container: ContainerType
    /// The file, unnamed until it is published.
    package let output: TemporaryFile
    /// The file's own tags. Set before writing starts.
    public var metadata: [MetadataEntry] = []
    /// The output's chapters. Set before writing starts.
    public var chapters: [AssetChapter] = []
    /// Covers beside the tracks. Set before writing starts.
    public var covers: [CoverArt] = []
    /// Files beside the tracks. Set before writing starts.
    package var attachments: [AttachedFile] = []
    /// The index goes to the front (`faststart`). Set before writing starts.
    public var shouldOptimizeForNetworkUse = false
    /// The file is written in fragments of about this length, of containers that have them (`movieFragmentInterval`).
    /// Set before writing starts.
    public var movieFragmentInterval: MediaTime?
    /// Bytes that the file has at most: all tracks end together where more would not fit
    /// (`AVAssetExportSession.fileLengthLimit`). Set before writing starts.
    public var fileLengthLimit: Int64?
    /// The inputs, in track order.
    public private(set) var inputs: [AssetWriterInput] = []

    let publishesItself: Bool
    /// A session of several writers publishes, when all are finished. Set before writing starts.
    var isHeld = false
    let queue = DispatchQueue(label: "tandem.mux")
    var muxer: Muxer?
    /// On `queue` only.
    var gate: FileSizeLimiter?
    /// On `queue` only.
    var pacer: FragmentScheduler?
    /// What the header fixed of each input's track; set before anything is written.
    var tracks: [OutputHeader.Track] = []
    var headers = UniqueDeque<Packet>()
    var movieTimescale: Int32 = 1000
    let state = Guarded(WriterState())
    private let written = Atomic<Int64>(0)
    private let companions = Guarded<[Companion]>([])

    /// A writer into a temporary file, which the caller publishes after `finishWriting`.
    package init(output: TemporaryFile, container: ContainerType) {
        self.output = output
        self.container = container
        publishesItself = false
    }

    /// A writer that publishes at a file URL when it is finished. A file that is there is not replaced: an error now,
    /// and at the end where it came meanwhile.
    public init(url: URL, container: ContainerType) throws {
        guard url.isFileURL else { throw MediaError.misuse("only file URLs can be written") }
        if TemporaryFile.fingerprint(path: url.path) != nil { throw PublishingError.destinationExists }
        output = try TemporaryFile(destination: url.path, in: .anywhere)
        self.container = container
        publishesItself = true
    }

    /// Adds an input, before writing starts. An input belongs to one writer. Whether the container holds its codec is said by `canAdd`,
    /// and otherwise by `startWriting`.
    public func add(_ input: AssetWriterInput) throws {
        if let problem = problem(adding: input) { throw problem }
        try input.attach(to: self, index: inputs.count)
        inputs.append(input)
        state.withLock { $0.inputs.append(WriterState.Input()) }
    }

    /// Where it stands.
    public var status: SessionStatus { state.withLock { $0.status } }
    /// What made it fail.
    public var error: (any Error)? { state.withLock { $0.error } }
    /// Packets written of each input so far.
    public var writtenPackets: [Int] { state.withLock { $0.inputs.map(\.packets) } }
    /// Where the file ends because no more fits, on the output's time line; nothing is taken any more.
    public var stop: MediaTime? { state.withLock { $0.stop } }
    /// Bytes of packets handed to the muxer so far.
    public var writtenBytes: Int64 { written.load(ordering: .relaxed) }

    /// Opens the encoders and writes the header.
    public func startWriting() throws {
        try state.withLock { state in
            guard state.status == .unknown else { throw MediaError.misuse("a writer is started once") }
            guard !state.inputs.isEmpty else { throw MediaError.misuse("a writer needs an input") }
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
        let header = OutputHeader(
            container: container, inputs: inputs, metadata: metadata,
            chapters: hasLateChapters ? [] : chapters, covers: covers,
            attachments: attachments, isForNetwork: shouldOptimizeForNetworkUse,
            isFragmented: movieFragmentInterval != nil)
        let opened = try header.write(to: output.descriptor)
        tracks = opened.tracks
        movieTimescale = opened.movieTimescale
        state.withLock { state in
            for (index, track) in opened.tracks.enumerated() {
                state.inputs[index].timeBase = track.packetTimeBase
            }
        }
        muxer = consume opened.muxer
        if let fileLengthLimit { gate = makeGate(limit: fileLengthLimit) }
        if let movieFragmentInterval {
            pacer = FragmentScheduler(
                tracks: zip(inputs, tracks).map { ($0.mediaType, $1.timeBase) },
                interval: movieFragmentInterval)
        }
    }

    private func makeGate(limit: Int64) -> FileSizeLimiter {
        let model = OutputSizeModel(
            container: container,
            tracks: zip(inputs, tracks).map {
                OutputSizeModel.Track(mediaType: $0.mediaType, codec: $1.codec, headerSize: $1.headerSize)
            })
        let tags = metadata + inputs.flatMap(\.metadata)
        return FileSizeLimiter(
            limit: limit,
            bytes: (muxer?.position ?? 0) + model.fixed(tags: tags, chapters: chapters, covers: covers),
            model: model, canShorten: container.hasEditLists,
            tracks: zip(inputs, tracks).map { ($0.mediaType, $1.packetTimeBase) })
    }

    /// Where the file may end early, its chapters are known at the end.
    var hasLateChapters: Bool { fileLengthLimit != nil && container.canTakeChaptersLate }

    /// Sets where the output's time line begins on the source's (`startSession(atSourceTime:)`). Once, before
    /// the first sample.
    public func startSession(atSourceTime start: MediaTime) throws {
        try state.withLock { state in
            guard state.status == .working, !state.hasStartedSession else {
                throw MediaError.misuse("a session is started once, after startWriting")
            }
            state.hasStartedSession = true
        }
        for input in inputs { input.session.withLock { $0.start = start } }
    }

    /// Sets where the output's time line ends on the source's (`endSession(atSourceTime:)`): what is appended
    /// from then on and lies past the end is left out, and what reaches over it is cut. Throws where a later
    /// sample has been appended already, since an encoder doesn't give it back.
    public func endSession(atSourceTime end: MediaTime) throws {
        guard state.withLock({ $0.status == .working && $0.hasStartedSession }) else {
            throw MediaError.misuse("a session is ended after it was started and before the writer finishes")
        }
        for input in inputs {
            let isLate = input.session.withLock { session in
                if session.appendedEnd.map({ $0 > end }) == true || end < session.start { return true }
                session.end = end
                return false
            }
            if isLate { throw MediaError.misuse("the session can't end before what was already appended") }
        }
    }

    // MARK: Packets come in

    func isReady(_ index: Int) -> Bool {
        state.withLock { state in
            let ready = state.isReady(index)
            if !ready { state.inputs[index].isAsleep = true }
            return ready
        }
    }

    /// It is under way, and the input not finished.
    func isTaking(_ index: Int) -> Bool {
        state.withLock { $0.status == .working && $0.hasStartedSession && !$0.inputs[index].isFinished }
    }

    /// The input was marked as finished.
    func isFinished(_ index: Int) -> Bool { state.withLock { $0.inputs[index].isFinished } }

    /// The pump of an input is called again when something moves.
    func markAsleep(_ index: Int) { state.withLock { $0.inputs[index].isAsleep = true } }

    func request(_ index: Int, on queue: DispatchQueue, _ block: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.inputs[index].request = (queue, block)
            state.inputs[index].isAsleep = false
        }
        queue.async(execute: block)
    }

    /// Forgets the pumps, which hold the session that holds this writer.
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

    /// Writes what can be written; on `queue`.
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
                if fileLengthLimit == nil { state.inputs[found].packets += 1 }
                next = consume packet
            }
            guard let packet = next.take() else { break }
            do {
                try pass(packet, input: index)
            } catch {
                fail(MediaError.writing(error))
                break
            }
            wakeSleepers()
        }
        wakeSleepers()
    }

    /// Through the gate, where there is one. Finished headers wait until it is known that everything went through.
    private func pass(_ packet: consuming Packet, input index: Int) throws(AVError) {
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

    /// No more fits: what waits is dropped, and the pumps are told.
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
        state.withLock { $0.inputs[index].packets += 1 }
        try write(packet, input: index)
    }

    func write(_ packet: consuming Packet, input index: Int) throws(AVError) {
        try tracks[index].trimming?.mark(packet)
        let track = tracks[index]
        let (from, to) = (track.packetTimeBase, track.timeBase)
        // Matroska's codec delay is taken off by every reader, so it is put on here.
        packet.pts = from.rescale(packet.pts + track.codecDelay, to: to)
        packet.dts = from.rescale(packet.dts + track.codecDelay, to: to)
        packet.duration = from.rescale(packet.duration, to: to)
        packet.streamIndex = index
        written.add(Int64(packet.size), ordering: .relaxed)
        guard let pacer else { return try hand(packet) }
        if let earlier = pacer.take(packet, track: index) { try write(earlier, pacedBy: pacer) }
    }

    func write(_ packet: borrowing Packet, pacedBy pacer: FragmentScheduler) throws(AVError) {
        let begins = pacer.begins(with: packet, track: packet.streamIndex) { index in
            state.withLock { $0.inputs[index].isFinished && $0.inputs[index].waiting.isEmpty }
        }
        if begins { try muxer?.endFragment() }
        try hand(packet)
    }

    /// What the muxer or its bit-stream filters make nothing of is no fault of the destination.
    private func hand(_ packet: borrowing Packet) throws(AVError) {
        do {
            try muxer?.write(packet)
        } catch {
            let index = packet.streamIndex
            if error.isInvalidData, inputs[index].isPassthrough, packet.pts != noTimestamp {
                let time = MediaTime(ticks: packet.pts, timeBase: tracks[index].timeBase)
                fail(
                    MediaError.unfit(
                        track: inputs[index].label, at: time, container: container.name, error))
            }
            throw error
        }
    }

    /// Pumps that slept because their track was ahead, and may go on, are called again; those of the session's other
    /// writers too.
    func wakeSleepers() {
        wakeOwnSleepers()
        for writer in companions.withLock({ $0 }) { writer.value?.wakeOwnSleepers() }
    }

    /// Joins a session of several writers, or of inputs that share a decoder; before writing starts. `first` is the number
    /// of this one's first input.
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

    /// Who waits for whom: "audio 1 waits for video 0: 64 packets queued".
    var stallDescription: String {
        state.withLock { state in
            let behind = state.inputs.indices.filter {
                state.inputs[$0].waiting.isEmpty && !state.inputs[$0].isFinished
            }
            let names = behind.map { inputs[$0].label }.joined(separator: ", ")
            let waits = state.inputs.indices.filter { !state.inputs[$0].waiting.isEmpty }.map {
                "\(inputs[$0].label) waits for \(names.isEmpty ? "the disk" : names): "
                    + "\(state.inputs[$0].waiting.count) packets queued"
            }
            return waits.isEmpty ? "nothing comes from \(names)" : waits.joined(separator: "; ")
        }
    }
}
