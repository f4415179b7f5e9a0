internal import LibAV
internal import Locking

/// A still image from an asset.
public struct StillImage: Sendable {
    /// The frame, converted by the generator's settings.
    public let image: PixelBuffer
    /// The requested time, on the asset's time line.
    public let requestedTime: MediaTime
    /// Presentation time of the frame.
    public let actualTime: MediaTime
    /// Whether the image repeats the frame of the previous one.
    public let isRepeated: Bool
}

/// Generates still images of a video track (AVFoundation's `AVAssetImageGenerator`).
///
/// Increasing times require one pass, in which frames between two times are decoded only as far as the later one
/// requires. A generator may be used from any queue, by one caller at a time.
public final class AssetImageGenerator: Sendable {
    private let asset: Asset
    /// The video track; nil for the first one of the asset.
    private let track: AssetTrack?
    /// Conversion of frames; nil for display settings: upright, square pixels, standard dynamic range.
    private let settings: VideoOutputSettings?
    private let maximumSize: PixelSize?
    /// The part of the frames that images show: by default the clean aperture for display, the encoded pixels with
    /// settings.
    public let apertureMode: ApertureMode
    private let isStopped: @Sendable () -> Bool
    private let interrupt = InterruptFlag()
    private let movement = MovementCounter()

    /// Maximum deviation of a frame's time from the requested time.
    public let tolerance: ImageTolerance
    private let tally = DamageTally()

    /// Amount of damaged data that was skipped so far.
    public var damage: DamageTally.Count { tally.count }

    /// Creates a generator for a video track of an asset. `settings`: conversion of each frame. A damaged frame is an
    /// error; with `damagePolicy` `.skip`, the previous frame replaces it. `isCancelled` is called repeatedly while
    /// images are generated.
    public init(
        asset: Asset, track: AssetTrack, settings: VideoOutputSettings = VideoOutputSettings(),
        tolerance: ImageTolerance = .exact, damagePolicy: DamagePolicy = .fail,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.asset = asset
        self.track = track
        self.settings = settings
        maximumSize = nil
        // The settings determine the part.
        apertureMode = .encodedPixels
        self.tolerance = tolerance
        isStopped = isCancelled
        tally.setPolicy(damagePolicy)
    }

    /// Creates a generator for the first video track of an asset, with RGB images for display: upright
    /// (`appliesPreferredTrackTransform`), standard dynamic range, no larger than `maximumSize`. They show the clean
    /// aperture in square pixels, unless `apertureMode` is another one.
    public init(
        asset: Asset, maximumSize: PixelSize? = nil, tolerance: ImageTolerance = .exact,
        apertureMode: ApertureMode = .cleanAperture
    ) {
        self.asset = asset
        self.maximumSize = maximumSize
        self.apertureMode = apertureMode
        self.tolerance = tolerance
        (track, settings) = (nil, nil)
        isStopped = { false }
        tally.setPolicy(.fail)
    }

    /// Cancels image generation from any queue with `CancellationError` (`cancelAllCGImageGeneration`). The generator
    /// can't be used afterwards.
    public func cancel() { interrupt.raise() }

    /// Generates a still image for each time, in the given order; increasing times are the fastest. Times before the
    /// first frame get the first frame, times after the end the last one.
    /// - Throws: `MediaError` if the source can't be read, `CancellationError` after a cancel, and the errors of
    ///   `body`.
    public func images(at times: [MediaTime], _ body: (StillImage) throws -> Void) throws {
        do {
            try make(times, body)
        } catch {
            throw callerError(error, of: track?.reference)
        }
    }

    /// Returns the still image for one time, generated on a background queue (`image(at:)`). Cancelling the task
    /// cancels the generation.
    public func image(at time: MediaTime) async throws -> StillImage {
        var iterator = images(for: [time]).makeAsyncIterator()
        guard let generated = try await iterator.next() else { throw CancellationError() }
        return generated
    }

    /// Returns the still images for the given times, each generated when it is requested (`images(for:)`). Increasing
    /// times are the fastest. Each sequence reads the source independently.
    public func images(for times: [MediaTime]) -> StillImageSequence {
        StillImageSequence(generator: self, times: times)
    }

    /// Returns a result for each of some times (`images(for:)` with `AVAssetImageGenerator.Images.Element`). An image that
    /// can't be generated is a failure, and the sequence continues with the next time. Increasing times are the
    /// fastest. After a cancel, the sequence ends with a failure whose error is `CancellationError`.
    public func results(for times: [MediaTime]) -> StillImageResults {
        StillImageResults(generator: self, times: times)
    }

    private func make(_ times: [MediaTime], _ body: (StillImage) throws -> Void) throws {
        let extractor = try extractor()
        if let parallel = try parallelExtractor(for: times, first: extractor) {
            return try parallel.run(body)
        }
        for time in times { try body(extractor.image(at: time)) }
    }

    /// Returns an extractor with concurrent decoders, if still images are so far apart that they rarely share frames;
    /// otherwise nil.
    private func parallelExtractor(for times: [MediaTime], first: StillImageExtractor) throws
        -> ParallelStillImageExtractor?
    {
        let most = min(Processors.current.available, Self.maxDecoders)
        // Filters may depend on the previous still image.
        guard most > 1, times.count > 3, tolerance.isExact, settings?.filters == nil,
            zip(times, times.dropFirst()).allSatisfy({ $0 <= $1 })
        else { return nil }
        var groups: [Range<Int>] = []
        var key: Int64?
        for (index, time) in times.enumerated() {
            guard let own = first.keyFrame(for: time) else { return nil }
            if own == key, let last = groups.last {
                groups[groups.count - 1] = last.lowerBound..<(index + 1)
            } else {
                groups.append(index..<(index + 1))
            }
            key = own
        }
        guard groups.count > 3, times.count <= groups.count * 3 else { return nil }
        let count = min(most, groups.count)
        let extractors = try (0..<count).map { _ in
            try self.extractor(threads: max(1, Processors.current.available / count))
        }
        return ParallelStillImageExtractor(times: times, groups: groups, extractors: extractors)
    }

    /// Maximum number of concurrent decoders: each one requires memory, and all read from the same disk.
    private static let maxDecoders = 8

    /// Returns an extractor of still images, for use on one queue.
    func extractor(
        threads: Int? = nil, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws -> StillImageExtractor {
        let contents = try asset.loadSynchronously()
        guard
            let track = track
                ?? contents.tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture })
        else { throw MediaError.noTrack(.video) }
        guard let settings = settings ?? defaultSettings(of: track) else {
            throw MediaError.noSamples(track: track.reference)
        }
        var context = ProducerContext(
            track: track, timeZero: contents.timeZero, range: nil)
        context.damage = tally
        let isOver = { @Sendable [interrupt, isStopped] in
            interrupt.isRaised || isStopped() || isCancelled()
        }
        return StillImageExtractor(
            track: track, reader: try reader(of: contents, track, threads, isOver),
            converter: StillImageConverter(settings: settings, context: context), isCancelled: isOver)
    }

    private func defaultSettings(of track: AssetTrack) -> VideoOutputSettings? {
        .stillImage(
            of: track, as: track.format.pixelFormat.hasAlpha ? .rgba : .rgb24, within: maximumSize,
            showing: apertureMode)
    }

    /// Returns the error to throw: `CancellationError` after a cancel, and a `MediaError` for errors of libraries.
    func callerError(_ error: any Error, of track: TrackReference?) -> any Error {
        // An interrupted read fails with another error.
        if interrupt.isRaised { return CancellationError() }
        switch error {
        case let error as InputError: return MediaError.input(error)
        case let error as AVError: return MediaError.reading(track: track ?? .part(.video), at: nil, error)
        default: return error
        }
    }

    private func reader(
        of contents: AssetContents, _ track: AssetTrack, _ wanted: Int?,
        _ isCancelled: @escaping @Sendable () -> Bool
    ) throws -> FrameFinder {
        let (environment, interrupt) = (asset.environment.sources, interrupt)
        switch asset.source {
        case .pattern(let pattern):
            return try FrameFinder(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) {
                (try GeneratedFrames(pattern: pattern, mediaType: .video, end: pattern.duration), nil)
            }
        case .images(let sequence):
            let (movement, tally) = (movement, tally)
            return try FrameFinder(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) {
                (
                    try ImageFrames(
                        sequence, track: track, from: 0, threads: Processors.current.available,
                        environment: environment, interrupt: interrupt, movement: movement, damage: tally),
                    nil
                )
            }
        case .composition(let composition):
            let opener = CompositionOpener(
                sources: composition.sources, environment: asset.environment, interrupt: interrupt,
                movement: movement, damage: tally, decoderThreads: nil)
            return try FrameFinder(
                track: track, timeZero: contents.timeZero, tolerance: tolerance, isCancelled: isCancelled
            ) {
                (try ComposedFrames(composition, from: .zero, opener: opener), nil)
            }
        case .file(let path):
            let container = contents.demuxer
            // Single keyframes are decoded without threads, which would delay output. Otherwise the frames between
            // two still images may use all processors.
            let threads = wanted ?? (tolerance.before == nil ? 1 : Processors.current.available)
            return try FrameFinder(
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
