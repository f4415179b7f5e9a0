package import LibAV

/// Compares an output's frames with the frames that its encoder received, or with the source's frames if they were
/// copied.
package struct SimilarityMeter: Sendable {
    /// Result of a comparison.
    package enum Outcome: Sendable {
        /// The metric over all frames, by default its mean.
        case value(Double)
        /// The numbers of frames differ, or there are none.
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

    /// Decodes both tracks from start to end. Throws `CancellationError` if cancelled.
    package func measure(_ metric: SimilarityMetric, pool: SimilarityPool = .mean) throws -> Outcome {
        try reference.start()
        guard let first = try reference.next()?.takeFrame() else { return .counts(source: 0, output: 0) }
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
                guard let value = try comparison.result(pool) else { return .counts(source: 0, output: 0) }
                return .value(value)
            }
            guard let one = outputFrame.take(), let other = referenceFrame.take() else {
                while try reference.next() != nil { sources += 1 }
                while try outputSamples.next() != nil { outputs += 1 }
                return .counts(source: sources, output: outputs)
            }
            try comparison.add(one, other)
            waiting = try reference.next()?.takeFrame()
            if waiting != nil { sources += 1 }
        }
    }
}
