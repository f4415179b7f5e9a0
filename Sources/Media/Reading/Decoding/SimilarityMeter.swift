package import LibAV

/// Compares an output's frames with the frames that its encoder received, or with the source's frames if they were
/// copied.
package struct SimilarityMeter: Sendable {
    /// Result of a comparison.
    package enum Outcome: Sendable {
        /// The metric over all frames, by default its mean.
        case value(Double)
        /// The numbers of frames, which differ, or none of which were compared.
        case counts(source: Int, output: Int)
    }

    private let reference: TrackSamples
    private let output: Asset
    private let track: AssetTrack
    private let isCancelled: @Sendable () -> Bool

    /// Creates a meter; `settings` and `extent` must be those with which the output was created.
    package init(
        source: Asset, sourceTrack: AssetTrack, settings: VideoOutputSettings,
        burnedSubtitles: BurnedSubtitles?, extent: ReadingExtent, output: Asset, track: AssetTrack,
        isCancelled: @escaping @Sendable () -> Bool
    ) throws {
        reference = try TrackSamples(
            asset: source, track: sourceTrack, settings: .video(settings),
            burnedSubtitles: burnedSubtitles, extent: extent, isCancelled: isCancelled)
        self.output = output
        self.track = track
        self.isCancelled = isCancelled
    }

    /// Decodes both tracks from start to end. Frames in `ignored`, ascending ranges of the output's time line, are counted but not
    /// compared. Throws `CancellationError` if cancelled.
    package func measure(
        _ metric: SimilarityMetric, pool: SimilarityPool = .mean, ignoring ignored: [TimeRange] = []
    ) throws -> Outcome {
        try reference.start()
        var ignored = ignored[...]
        func isCompared(at time: MediaTime) -> Bool {
            while let range = ignored.first, range.end <= time { ignored.removeFirst() }
            return ignored.first.map { time < $0.start } ?? true
        }
        guard let sample = try reference.next() else { return .counts(source: 0, output: 0) }
        var isNextCompared = isCompared(at: sample.presentationTime)
        guard let first = sample.takeFrame() else { return .counts(source: 0, output: 0) }
        // The output's decoder may return an equivalent format, such as yuvj420p, so its frames are converted to the
        // reference's.
        let settings = VideoOutputSettings(
            pixelFormat: first.pixelFormat, size: PixelSize(width: first.width, height: first.height))
        let outputSamples = try TrackSamples(
            asset: output, track: track, settings: .video(settings), isCancelled: isCancelled)
        try outputSamples.start()
        var comparison = try FrameComparison.open(metric, like: first)
        var (sources, outputs) = (1, 0)
        var waiting: Frame? = consume first
        while true {
            var outputFrame = try outputSamples.next()?.takeFrame()
            var referenceFrame = waiting.take()
            if outputFrame != nil { outputs += 1 }
            guard outputFrame != nil || referenceFrame != nil else {
                guard let value = try comparison.result(pool) else {
                    return .counts(source: sources, output: outputs)
                }
                return .value(value)
            }
            guard let one = outputFrame.take(), let other = referenceFrame.take() else {
                while try reference.next() != nil { sources += 1 }
                while try outputSamples.next() != nil { outputs += 1 }
                return .counts(source: sources, output: outputs)
            }
            if isNextCompared { try comparison.add(one, other) }
            guard let sample = try reference.next() else { continue }
            isNextCompared = isCompared(at: sample.presentationTime)
            waiting = sample.takeFrame()
            sources += 1
        }
    }
}
