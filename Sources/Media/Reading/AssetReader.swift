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
/// Unchecked `Sendable`: `outputs` and `timeRange` are frozen by `startReading`; the rest is behind the mutex.
public final class AssetReader: @unchecked Sendable {
    /// The asset that is read.
    public let asset: Asset
    private let contents: AssetContents
    private let interrupt = InterruptFlag()
    private let movement = MovementCounter()
    private let state = Guarded(SessionStatus.unknown)

    /// The stretch of the asset's time line that is read; nil for all of it. Set before reading starts.
    public var timeRange: TimeRange?
    /// Several stretches, joined end to end in this order, instead of `timeRange`; samples are then vended on the time
    /// line of the whole. Packets can't be joined, but for subtitles. Set before reading starts.
    public var joinedRanges: [TimeRange] = []
    /// What becomes of damaged data. Set before reading starts.
    public var damagePolicy = DamagePolicy.fail
    /// The outputs, in the order they were added.
    public private(set) var outputs: [AssetReaderTrackOutput] = []
    /// Threads of each video decoder, 0 for as many as it likes. Half the processors by default: the encoder
    /// that follows needs the others, and every thread holds a picture more.
    public var decoderThreads = max(1, activeProcessorCount / 2)

    /// A reader of an asset, which is loaded now where it isn't yet.
    public init(asset: Asset) throws {
        self.asset = asset
        contents = try asset.loadSynchronously()
    }

    /// Adds an output. Its track must be one of the asset's.
    public func add(_ output: AssetReaderTrackOutput) throws {
        guard status == .unknown else { throw MediaError.misuse("outputs are added before reading starts") }
        let known = Set(contents.tracks.map(\.index))
        guard output.tracks.allSatisfy({ known.contains($0.index) }) else {
            throw MediaError.misuse("the track is not one of the asset's")
        }
        outputs.append(output)
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

    private var factory: ProducerFactory {
        ProducerFactory(
            source: asset.source, timeZero: contents.timeZero, limits: asset.limits, interrupt: interrupt,
            movement: movement, decoderThreads: decoderThreads,
            ranges: joinedRanges.isEmpty ? timeRange.map { [$0] } ?? [] : joinedRanges)
    }

    /// Where what is vended begins and ends: on the asset's time line, or joined, on that of the whole.
    var vendedRange: TimeRange? {
        guard !joinedRanges.isEmpty else { return timeRange }
        return TimeRange(start: .zero, duration: joinedRanges.reduce(.zero) { $0 + $1.duration })
    }

    private func start() throws {
        let factory = factory
        do {
            let shared = outputs.filter { factory.canShare($0) }
            let lane = try shared.isEmpty ? nil : factory.lane(for: shared)
            for output in outputs {
                output.damage.follow(damagePolicy)
                output.begin(
                    try factory.producer(for: output, lane: factory.canShare(output) ? lane : nil))
            }
        } catch let error as InputError {
            throw MediaError.input(error)
        }
    }
}

/// Processors that are there.
let activeProcessorCount = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
