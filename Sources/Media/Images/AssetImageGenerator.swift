internal import LibAV
internal import Locking

/// A frame of an asset as a still.
public struct StillImage: Sendable {
    /// The frame in the form that was asked for.
    public let image: PixelBuffer
    /// The time that was asked for, on the asset's time line.
    public let requestedTime: MediaTime
    /// When the frame comes on screen.
    public let actualTime: MediaTime
    /// It is the same frame as the still before it.
    public let isRepeated: Bool
}

/// Makes stills of moments of a track (AVFoundation's `AVAssetImageGenerator`).
///
/// Times that increase are found in one read: what lies between two of them is decoded only as far as the later one needs it.
/// A generator may be used from any queue, by one caller at a time.
public final class AssetImageGenerator: Sendable {
    private let asset: Asset
    /// Nil for the first video track.
    private let track: AssetTrack?
    /// Nil for frames as they are looked at.
    private let settings: VideoOutputSettings?
    private let maximumSize: PixelSize?
    private let isGivenUp: @Sendable () -> Bool
    private let interrupt = InterruptFlag()
    private let movement = MovementCounter()

    /// How far from the time that is asked for a still may lie.
    public let tolerance: ImageTolerance
    private let tally = DamageTally()

    /// What was left out because it is damaged.
    public var damage: DamageTally.Count { tally.count }

    /// A generator for a track of frames of an asset. `settings` say what becomes of each: size, rotation, colour. Frames that are
    /// damaged are an error, or with `.skip` the one before them stands in their place. `isCancelled` is asked while it works.
    public init(
        asset: Asset, track: AssetTrack, settings: VideoOutputSettings = VideoOutputSettings(),
        tolerance: ImageTolerance = .exact, damagePolicy: DamagePolicy = .fail,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.asset = asset
        self.track = track
        self.settings = settings
        maximumSize = nil
        self.tolerance = tolerance
        isGivenUp = isCancelled
        tally.follow(damagePolicy)
    }

    /// A generator for the first video track of an asset, whose stills are RGB as they are looked at: upright
    /// (`appliesPreferredTrackTransform`), with square pixels, of standard dynamic range, and none larger than `maximumSize`.
    public init(asset: Asset, maximumSize: PixelSize? = nil, tolerance: ImageTolerance = .exact) {
        self.asset = asset
        self.maximumSize = maximumSize
        self.tolerance = tolerance
        (track, settings) = (nil, nil)
        isGivenUp = { false }
        tally.follow(.fail)
    }

    /// Ends what is under way with `CancellationError`, from any queue; nothing can be asked for after that
    /// (`cancelAllCGImageGeneration`).
    public func cancel() { interrupt.raise() }

    /// Makes a still of each time, in the order in which they are given: increasing times are the quickest. Before the first frame
    /// there is the first one to be seen, behind the last the last.
    /// - Throws: `MediaError` where the source can't be read, `CancellationError` after a cancel, and what `body` throws.
    public func images(at times: [MediaTime], _ body: (StillImage) throws -> Void) throws {
        do {
            try make(times, body)
        } catch {
            throw told(error, of: track?.label)
        }
    }

    /// The still of one time, made on a queue of the generator's own (`image(at:)`). Where the task is cancelled, so is this still.
    public func image(at time: MediaTime) async throws -> StillImage {
        var iterator = images(for: [time]).makeAsyncIterator()
        guard let still = try await iterator.next() else { throw CancellationError() }
        return still
    }

    /// The stills of some times, one after the other as they are asked for (`images(for:)`): what is not asked for is not made.
    /// Increasing times are the quickest. Each sequence reads by itself.
    public func images(for times: [MediaTime]) -> StillSequence {
        StillSequence(generator: self, times: times)
    }

    private func make(_ times: [MediaTime], _ body: (StillImage) throws -> Void) throws {
        let search = try search()
        if let lanes = try lanes(for: times, beside: search) { return try lanes.run(body) }
        for time in times { try body(search.still(at: time)) }
    }

    /// Several searches at once, where stills lie so far apart that hardly two of them need the same frames; nil otherwise.
    private func lanes(for times: [MediaTime], beside search: StillSearch) throws -> StillLanes? {
        let most = min(activeProcessorCount, Self.mostLanes)
        // Filters may remember the still before.
        guard most > 1, times.count > 3, tolerance.isExact, settings?.filters == nil,
            zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 })
        else { return nil }
        var groups: [Range<Int>] = []
        var key: Int64?
        for (place, time) in times.enumerated() {
            guard let own = search.keyFrame(for: time) else { return nil }
            if own == key, let last = groups.last {
                groups[groups.count - 1] = last.lowerBound..<(place + 1)
            } else {
                groups.append(place..<(place + 1))
            }
            key = own
        }
        guard groups.count > 3, times.count <= groups.count * 3 else { return nil }
        let count = min(most, groups.count)
        let searches = try (0..<count).map { _ in
            try self.search(threads: max(1, activeProcessorCount / count))
        }
        return StillLanes(times: times, groups: groups, searches: searches)
    }

    /// Decoders at once: more of them take memory, and what they read comes from one disk.
    private static let mostLanes = 8

    /// What finds stills, one after the other, from one queue.
    func search(
        threads: Int? = nil, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> StillSearch {
        let contents = try asset.loadSynchronously()
        guard
            let track = track
                ?? contents.tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture })
        else { throw MediaError.noTrack(.video) }
        guard let settings = settings ?? Self.usual(of: track, within: maximumSize) else {
            throw MediaError.noSamples(track: track.label)
        }
        var context = ProducerContext(
            track: track, timeZero: contents.timeZero, range: nil)
        context.damage = tally
        let isOver = { @Sendable [interrupt, isGivenUp] in
            interrupt.isRaised || isGivenUp() || isCancelled()
        }
        return StillSearch(
            track: track, reader: try reader(of: contents, track, threads, isOver),
            converter: StillConverter(settings: settings, context: context), isCancelled: isOver)
    }

    private static func usual(of track: AssetTrack, within box: PixelSize?) -> VideoOutputSettings? {
        let name = track.format.pixelFormat.hasAlpha ? "rgba" : "rgb24"
        return PixelFormat(named: name).flatMap { VideoOutputSettings.still(of: track, as: $0, within: box) }
    }

    /// What went wrong, as it is told.
    func told(_ error: any Error, of track: String?) -> any Error {
        // A read that is interrupted fails in its own way.
        if interrupt.isRaised { return CancellationError() }
        switch error {
        case let error as InputError: return MediaError.input(error)
        case let error as AVError: return MediaError.reading(track: track ?? "video", at: nil, error)
        default: return error
        }
    }

    private func reader(
        of contents: AssetContents, _ track: AssetTrack, _ wanted: Int?,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> StillReader {
        let (environment, interrupt) = (asset.environment.sources, interrupt)
        switch asset.source {
        case .pattern(let pattern):
            return try StillReader(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) {
                (try GeneratedFrames(pattern: pattern, mediaType: .video), nil)
            }
        case .images(let sequence):
            let (movement, tally) = (movement, tally)
            return try StillReader(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) {
                (
                    try ImageFrames(
                        sequence, track: track, from: 0, threads: activeProcessorCount,
                        environment: environment, interrupt: interrupt, movement: movement, damage: tally),
                    nil
                )
            }
        case .composition(let composition):
            let opener = CompositionOpener(
                sources: composition.sources, environment: asset.environment, interrupt: interrupt,
                movement: movement, damage: tally, decoderThreads: nil)
            return try StillReader(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) {
                (try ComposedFrames(composition, from: .zero, opener: opener), nil)
            }
        case .file(let path):
            let container = SourceContainer(contents.container)
            // Key frames alone are decoded one by one: threads would only hold them back. Otherwise nothing else wants the processors
            // while what lies between two stills is decoded.
            let threads = wanted ?? (tolerance.before == nil ? 1 : activeProcessorCount)
            return try StillReader(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) { [movement, tally] in
                let packets = try PacketSource(
                    track: track, of: container, path: path, environment: environment, interrupt: interrupt,
                    movement: movement, damage: tally)
                packets.timeZero = contents.timeZero
                let frames = try DecodedFrames(
                    packets: packets, threads: threads, limits: environment.limits)
                return (frames, packets)
            }
        }
    }
}
