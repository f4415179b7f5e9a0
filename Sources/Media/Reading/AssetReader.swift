internal import Dispatch
internal import Glibc
internal import LibAV
internal import Locking

/// State of a reader or a writer (AVFoundation's `AVAssetReader.Status`).
public enum SessionStatus: String, Sendable {
    /// Not started.
    case unknown
    /// Started, and not complete.
    case working
    /// All samples were vended or written, without an error.
    case completed
    /// Ended by an error.
    case failed
    /// Cancelled by the caller.
    case cancelled
}

// Unchecked `Sendable`: `outputs` and `extent` are immutable after `startReading`; the status is protected by a mutex,
// and the other properties must be set before reading starts.
/// Reads one asset through any number of outputs (AVFoundation's `AVAssetReader`). A reader is used once.
public final class AssetReader: @unchecked Sendable {
    /// The asset that is read.
    public let asset: Asset
    private let contents: AssetContents
    private let interrupt: InterruptFlag
    private let movement: MovementCounter
    private let state = Guarded(SessionStatus.unknown)

    /// Ranges to read, and the damage policy. Samples of several ranges are vended on the time line of their
    /// concatenation; packets of several ranges can't be joined, except those of subtitles. Set before reading starts.
    public var extent = ReadingExtent()
    /// The range of the asset's time line to read; nil if the whole asset or several ranges are read. Packets of video
    /// begin at the keyframe at or before the range's start; frames that end before the start are marked as not
    /// presented (`Packet.isDiscarded`). A range past the end contains no samples.
    public var timeRange: TimeRange? {
        get { extent.ranges.count == 1 ? extent.ranges[0] : nil }
        set { extent.ranges = newValue.map { [$0] } ?? [] }
    }
    /// The outputs, in the order they were added.
    public private(set) var outputs: [AssetReaderOutput] = []
    /// Whether outputs that read frames of the same track share one decoder, paced by the slowest of them. Each of
    /// these outputs must then be read concurrently, on a separate thread or by a session. If false, each output has
    /// its own decoder. Set before reading starts. Default: false.
    package var sharesDecoders = false
    /// Number of threads of each video decoder; 0 lets libavcodec choose, nil selects it by the track
    /// (`AssetTrack.decoderThreads`).
    package var decoderThreads: Int?

    /// Maximum rate at which samples are vended, as a multiple of real time (ffmpeg's `-readrate`): for output that
    /// is displayed or streamed while it is read. Nil for no limit. Greater than 0.001, less than 1000. Set before
    /// reading starts.
    public var playbackRate: Double?

    /// Creates a reader of an asset. If the asset isn't loaded yet, the call loads it and blocks; in an asynchronous
    /// function, load it first or use `init(loading:)`.
    public convenience init(asset: Asset) throws {
        try self.init(asset: asset, interrupt: InterruptFlag(), movement: MovementCounter())
    }

    /// Loads an asset without blocking the caller, and creates a reader of it.
    /// - Throws: the errors of `Asset.load(_:)`.
    public convenience init(loading asset: Asset) async throws {
        _ = try await asset.load(.contents)
        try self.init(asset: asset)
    }

    /// Creates a reader for a source of a composition; it shares interrupt flag and packet counter with the
    /// composition's reader.
    init(asset: Asset, interrupt: InterruptFlag, movement: MovementCounter) throws {
        self.asset = asset
        (self.interrupt, self.movement) = (interrupt, movement)
        contents = try asset.loadSynchronously()
    }

    /// Returns whether an output can be added: reading hasn't started, the output has no reader yet, and its tracks
    /// belong to the asset.
    public func canAdd(_ output: AssetReaderOutput) -> Bool {
        problem(adding: output) == nil
    }

    /// Adds an output.
    /// - Throws: `MediaError.misuse` if reading has started, or if the output belongs to a reader;
    ///   `MediaError.invalidArgument` if its track isn't one of the asset's.
    public func add(_ output: AssetReaderOutput) throws {
        if let problem = problem(adding: output) { throw problem }
        try output.attach()
        outputs.append(output)
    }

    private func problem(adding output: AssetReaderOutput) -> MediaError? {
        guard status == .unknown else { return .misuse("outputs must be added before reading starts") }
        if output.isAttached { return .misuse("the output already belongs to a reader") }
        let known = Set(contents.tracks.map(\.index))
        guard output.tracks.allSatisfy({ known.contains($0.index) }) else {
            return .invalidArgument("the track doesn't belong to the asset")
        }
        return nil
    }

    /// State of the reader; `completed` once every output has vended all its samples.
    public var status: SessionStatus {
        let known = state.withLock { $0 }
        guard known == .working else { return known }
        let outcomes = outputs.map(\.outcome)
        if outcomes.contains(where: { $0.error != nil }) { return .failed }
        return outcomes.allSatisfy(\.isFinished) ? .completed : .working
    }

    /// The error of the first output that failed; nil if none failed.
    public var error: (any Error)? { outputs.lazy.compactMap { $0.outcome.error }.first }

    /// Number of packets read so far, for the detection of stalls.
    var packetsRead: Int64 { movement.value }

    private static let queue = DispatchQueue(label: "tandem.readers", attributes: .concurrent)

    /// Starts reading without blocking the caller, which `startReading()` does while files are opened. Cancelling the
    /// task cancels the reader.
    public func start() async throws {
        try await withTaskCancellationHandler {
            try await Self.queue.result { try self.startReading() }
        } onCancel: {
            cancelReading()
        }
        if status == .cancelled { throw CancellationError() }
    }

    /// Opens the demuxers and decoders, and starts reading ahead.
    public func startReading() throws {
        try state.withLock { state in
            guard state == .unknown else { throw MediaError.misuse("a reader can only be started once") }
            state = .working
        }
        do {
            if let playbackRate {
                guard playbackRate > 0.001, playbackRate < 1000 else {
                    throw MediaError.invalidArgument("the rate must be between 0.001 and 1000")
                }
                let pace = PlaybackPace(rate: playbackRate, from: extent.outputRange?.start ?? .zero)
                for output in outputs { output.pace = pace }
            }
            try start()
        } catch {
            state.withLock { $0 = .failed }
            for output in outputs { output.cancel() }
            throw error
        }
    }

    /// Stops reading: outputs vend nil from now on, and a read in progress is interrupted.
    public func cancelReading() {
        interrupt.raise()
        state.withLock { state in
            if state == .working || state == .unknown { state = .cancelled }
        }
        for output in outputs { output.cancel() }
    }

    private func factory(_ sharing: DecoderSharing) -> ProducerFactory {
        ProducerFactory(
            sharing: sharing,
            source: asset.source, container: contents.demuxer, timeZero: contents.timeZero,
            media: asset.environment, interrupt: interrupt,
            movement: movement, decoderThreads: decoderThreads, ranges: extent.ranges,
            isOpen: extent.isOpen, duration: contents.duration)
    }

    private func start() throws {
        if contents.missingBytes > 0, extent.damagePolicy == .fail, case .file(let path) = asset.source {
            throw MediaError.input(
                InputError(
                    path: path,
                    reason: .truncated(
                        expected: contents.fileSize + contents.missingBytes, actual: contents.fileSize)))
        }
        let sharing = DecoderSharing(outputs.filter { $0.composing == nil }, isOn: sharesDecoders)
        if sharesDecoders { joinTallies() }
        for output in outputs {
            output.onEnd = { @Sendable [weak output] in
                if let output { sharing.end(output) }
            }
        }
        let factory = factory(sharing)
        do {
            let shared = outputs.filter { $0.composing == nil && factory.canShare($0) }
            let demuxer = try shared.isEmpty ? nil : factory.demuxer(for: shared)
            // Set for all outputs first, because damage in a shared demuxer is counted for each output.
            for output in outputs { output.damage.setPolicy(extent.damagePolicy) }
            for output in outputs {
                let isShared = shared.contains { $0 === output }
                let factory = try factory.composing(output)
                output.begin(try factory.producer(for: output, demuxer: isShared ? demuxer : nil))
            }
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }
}

extension AssetReader {
    /// Assigns one damage tally to outputs that decode the same track, because a shared decoder skips data for all of
    /// them.
    private func joinTallies() {
        var tallies: [Int: DamageTally] = [:]
        for output in outputs where output.settings.isDecoded && output.isOfOneTrack {
            let tally = tallies[output.track.index] ?? output.damage
            tallies[output.track.index] = tally
            output.damage = tally
        }
    }
}
