internal import Glibc
internal import LibAV
internal import Locking

/// Where a reader or a writer stands (AVFoundation's `AVAssetReader.Status`).
public enum SessionStatus: String, Sendable {
    /// Not started.
    case unknown
    /// Reading or writing.
    case working
    /// All done.
    case completed
    /// Broken off by an error.
    case failed
    /// Broken off on request.
    case cancelled
}

/// Reads one asset through any number of outputs (AVFoundation's `AVAssetReader`). A reader is used once.
///
/// Unchecked `Sendable`: `outputs` and `extent` are frozen by `startReading`; the rest is behind the mutex.
public final class AssetReader: @unchecked Sendable {
    /// The asset that is read.
    public let asset: Asset
    private let contents: AssetContents
    private let interrupt: InterruptFlag
    private let movement: MovementCounter
    private let state = Guarded(SessionStatus.unknown)

    /// What is read. Of several ranges, samples are vended on the time line of the whole; packets can't be joined, but
    /// for subtitles. Set before reading starts.
    public var extent = ReadingExtent()
    /// The one range of the asset's time line that is read; nil for all of it, or for several.
    public var timeRange: TimeRange? {
        get { extent.ranges.count == 1 ? extent.ranges[0] : nil }
        set { extent.ranges = newValue.map { [$0] } ?? [] }
    }
    /// The outputs, in the order they were added.
    public private(set) var outputs: [AssetReaderOutput] = []
    /// Outputs that want frames of the same track have them from one decoder, the slowest pacing the others: so none may
    /// be left unread, and each is read by a thread of its own, or through a session. Without it each output decodes for
    /// itself. Set before reading starts.
    public var sharesDecoders = false
    /// Threads of each video decoder, 0 for as many as libavcodec likes; nil for what suits the track
    /// (`AssetTrack.decoderThreads`).
    public var decoderThreads: Int?

    /// Samples are vended no faster than they play, or so many times as fast: for what is shown or sent on while it is read (ffmpeg's
    /// `-readrate`). Nil for as fast as they come. Set before reading starts.
    public var playbackRate: Double?

    /// A reader of an asset, which is loaded now where it isn't yet.
    public convenience init(asset: Asset) throws {
        try self.init(asset: asset, interrupt: InterruptFlag(), movement: MovementCounter())
    }

    /// One that reads for another one, and stops and counts with it.
    init(asset: Asset, interrupt: InterruptFlag, movement: MovementCounter) throws {
        self.asset = asset
        (self.interrupt, self.movement) = (interrupt, movement)
        contents = try asset.loadSynchronously()
    }

    /// An output can be added now: reading hasn't started, the output has no reader yet, and its tracks are the asset's (`canAdd(_:)`).
    public func canAdd(_ output: AssetReaderOutput) -> Bool {
        problem(adding: output) == nil
    }

    /// Adds an output. Its track must be one of the asset's. An output belongs to one reader.
    public func add(_ output: AssetReaderOutput) throws {
        if let problem = problem(adding: output) { throw problem }
        try output.attach()
        outputs.append(output)
    }

    private func problem(adding output: AssetReaderOutput) -> MediaError? {
        guard status == .unknown else { return .misuse("outputs are added before reading starts") }
        if output.isAttached { return .misuse("an output belongs to one reader") }
        let known = Set(contents.tracks.map(\.index))
        guard output.tracks.allSatisfy({ known.contains($0.index) }) else {
            return .misuse("the track is not one of the asset's")
        }
        return nil
    }

    /// Where it stands. Completed once every output has vended all it has.
    public var status: SessionStatus {
        let known = state.withLock { $0 }
        guard known == .working else { return known }
        let outcomes = outputs.map(\.outcome)
        if outcomes.contains(where: { $0.error != nil }) { return .failed }
        return outcomes.allSatisfy(\.isFinished) ? .completed : .working
    }

    /// The first error of any output.
    public var error: (any Error)? { outputs.lazy.compactMap { $0.outcome.error }.first }

    /// Packets read so far, for telling a stall.
    var packetsRead: Int64 { movement.value }

    /// Opens the demuxers and decoders, and begins to read ahead.
    public func startReading() throws {
        try state.withLock { state in
            guard state == .unknown else { throw MediaError.misuse("a reader is started once") }
            state = .working
        }
        do {
            if let playbackRate {
                guard playbackRate > 0.001, playbackRate < 1000 else {
                    throw MediaError.misuse("samples play at a rate above 0.001 and below 1000")
                }
                let pace = PlaybackPace(rate: playbackRate, from: extent.vended?.start ?? .zero)
                for output in outputs { output.pace = pace }
            }
            try start()
        } catch {
            state.withLock { $0 = .failed }
            for output in outputs { output.cancel() }
            throw error
        }
    }

    /// Stops reading: outputs vend nil from now on, and a read that is under way is interrupted.
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
            source: asset.source, container: SourceContainer(contents.container), timeZero: contents.timeZero,
            media: asset.environment, interrupt: interrupt,
            movement: movement, decoderThreads: decoderThreads, ranges: extent.ranges,
            isOpen: extent.isOpen)
    }

    private func start() throws {
        if contents.missingBytes > 0, extent.damagePolicy == .fail, case .file(let path) = asset.source {
            throw MediaError.input(
                InputError(
                    path: path,
                    reason: .truncated(
                        expected: contents.fileSize + contents.missingBytes, got: contents.fileSize)))
        }
        let sharing = DecoderSharing(outputs.filter { $0.composing == nil }, isOn: sharesDecoders)
        if sharesDecoders { joinTallies() }
        for output in outputs {
            output.ending = { @Sendable [weak output] in
                if let output { sharing.end(output) }
            }
        }
        let factory = factory(sharing)
        do {
            let shared = outputs.filter { $0.composing == nil && factory.canShare($0) }
            let lane = try shared.isEmpty ? nil : factory.lane(for: shared)
            // All of them first: what one reads ahead through a shared demuxer is damage to the others as well.
            for output in outputs { output.damage.follow(extent.damagePolicy) }
            for output in outputs {
                let isShared = shared.contains { $0 === output }
                let factory = try factory.composing(output)
                output.begin(try factory.producer(for: output, lane: isShared ? lane : nil))
            }
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }
}

extension AssetReader {
    /// What a shared decoder leaves out is left out of all that come from it.
    private func joinTallies() {
        var tallies: [Int: DamageTally] = [:]
        for output in outputs where output.settings.isDecoded && output.isOfOneTrack {
            let tally = tallies[output.track.index] ?? output.damage
            tallies[output.track.index] = tally
            output.damage = tally
        }
    }
}

/// Processors that are there.
let activeProcessorCount = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
