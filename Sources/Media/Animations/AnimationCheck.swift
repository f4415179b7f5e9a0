internal import FileSystem
package import LibAV

/// Verifies a finished animation by decoding all of its still images.
package struct AnimationCheck {
    private let configuration: EncoderConfiguration
    private let environment: SourceEnvironment
    private let isCancelled: @Sendable () -> Bool

    /// Creates a check of animations that were encoded with `configuration` and are read through `environment`.
    /// `isCancelled` is called before every still image.
    package init(
        _ configuration: EncoderConfiguration, in environment: SourceEnvironment,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.configuration = configuration
        self.environment = environment
        self.isCancelled = isCancelled
    }

    /// Returns a description of a problem; nil if the file's still images have the expected size and times. A WebP may
    /// merge equal consecutive images.
    /// - Throws: `CancellationError` after a cancel, and errors of reading the file.
    package func problem(
        inFile path: String, format: AnimationFormat, timing: AnimationTiming
    ) throws -> String? {
        let found =
            switch format {
            case .gif: try gif(path)
            case .webp: try webp(path)
            }
        guard let found else { return "it is not a readable animation" }
        if let problem = found.problem { return problem }
        let expected = timing.starts(in: format.tick)
        let isComplete =
            switch format {
            case .gif: found.starts == expected
            case .webp: Set(found.starts).isSubset(of: expected)
            }
        if found.starts.first != 0 || !isComplete { return "its images have the wrong times" }
        let end = timing.end.ticks(in: format.tick)
        // The duration of a single still image isn't checked: a file of one image may declare none.
        if expected.count > 1, found.starts.count > 1, abs(found.end - end) > 1 {
            return "it lasts \(found.end) instead of \(end) ticks"
        }
        return nil
    }

    private struct Structure {
        var starts: [Int64] = []
        var end: Int64 = 0
        var problem: String?
    }

    private func gif(_ path: String) throws -> Structure? {
        let asset = Asset(.file(path), environment: MediaEnvironment(sources: environment))
        guard let track = try asset.loadSynchronously().tracks.first(where: { $0.mediaType == .video }) else {
            return nil
        }
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(VideoOutputSettings()), isCancelled: isCancelled)
        try samples.start()
        defer { samples.cancel() }
        var found = Structure()
        let tick = AnimationFormat.gif.tick
        while let sample = try samples.next() {
            let isRight = sample.withFrame {
                $0.width == configuration.width && $0.height == configuration.height
            }
            if isRight != true { found.problem = "an image has another size" }
            let (unit, pts, duration) = (sample.timeBase, sample.pts, sample.duration)
            found.starts.append(unit.rescale(pts, to: tick))
            found.end = unit.rescale(pts + duration, to: tick)
        }
        return found
    }

    private func webp(_ path: String) throws -> Structure? {
        let source = try environment.file(path)
        guard source.size < Int64(Int32.max), let bytes = source.bytes(at: 0, Int(source.size)),
            let animation = WebPChunks.animation(in: bytes)
        else { return nil }
        let whole = PixelSize(width: configuration.width, height: configuration.height)
        let decoder = StillImageDecoder(
            try CodecParameters.video(
                codec: "webp", width: whole.width, height: whole.height, pixelFormat: .yuv420p, extradata: []),
            limits: environment.limits)
        var found = Structure()
        guard !animation.frames.isEmpty else {
            found.starts = [0]
            found.problem = decoder.problem(in: bytes, size: whole)
            return found
        }
        if animation.width != configuration.width || animation.height != configuration.height {
            found.problem = "it has another size"
        }
        for frame in animation.frames {
            if isCancelled() { throw CancellationError() }
            found.starts.append(found.end)
            found.end += Int64(frame.length)
            let file = WebPChunks.file(of: frame, in: bytes)
            found.problem =
                found.problem
                ?? decoder.problem(in: file, size: PixelSize(width: frame.width, height: frame.height))
        }
        return found
    }
}
