internal import JobPlan
internal import LibAV
package import Media

/// The preview of a finished output in the HTML report: image pairs of source and output, waveform and bit rate.
package struct JobPreview: Codable, Sendable {
    /// Frames of source and output at the same presentation time.
    package struct Pair: Codable, Sendable {
        /// Frame of the source; nil if it could not be read.
        package var source: Thumbnail?
        /// Frame of the output; nil if it could not be read.
        package var output: Thumbnail?

        package init(source: Thumbnail? = nil, output: Thumbnail? = nil) {
            self.source = source
            self.output = output
        }
    }

    /// Frames of the first video track, at three times.
    package var pairs: [Pair] = []
    /// Waveform of the output's first audio track.
    package var waveform: Waveform?
    /// Bit rate of all tracks over the output's duration.
    package var bitRate: BitRateCurve?
    /// Reasons why parts of the preview are missing. The job succeeds without them.
    package var problems: [String] = []

    /// Creates a preview, which is empty by default.
    package init(
        pairs: [Pair] = [], waveform: Waveform? = nil, bitRate: BitRateCurve? = nil, problems: [String] = []
    ) {
        self.pairs = pairs
        self.waveform = waveform
        self.bitRate = bitRate
        self.problems = problems
    }
}

/// The creation of a preview from a finished output, before it is published.
struct PreviewMaker {
    let task: OutputTask
    private var plan: OutputPlan { task.output }
    let path: String
    /// Environment in which the output and its source are opened.
    let environment: MediaEnvironment
    /// Polled during the work; returning true cancels it.
    let isCancelled: @Sendable () -> Bool

    private static let box = PixelSize(width: 192, height: 144)

    /// Creates the preview. Media errors are recorded in `problems`; only `CancellationError` is thrown.
    func make() throws -> JobPreview {
        var preview = JobPreview()
        let output = Asset(.file(path), timing: .fast, environment: environment)
        try attempt("the output", &preview) { preview in
            let contents = try output.loadSynchronously()
            try attempt("the video", &preview) { try addPairs(to: &$0, output, contents) }
            try attempt("the audio", &preview) { preview in
                guard let track = contents.tracks(of: .audio).first else { return }
                preview.waveform = try Waveform.measure(
                    asset: output, track: track, isCancelled: isCancelled)
            }
            try attempt("the bit rate", &preview) {
                $0.bitRate = try BitRateCurve.measure(
                    path: path, environment: environment.sources, duration: contents.duration,
                    isCancelled: isCancelled)
            }
        }
        return preview
    }

    private func attempt(
        _ what: String, _ preview: inout JobPreview, _ body: (inout JobPreview) throws -> Void
    ) throws {
        do {
            try body(&preview)
        } catch {
            if isCancelled() || error is CancellationError { throw CancellationError() }
            preview.problems.append("\(what): \(error)")
        }
    }

    private func addPairs(to preview: inout JobPreview, _ output: Asset, _ contents: AssetContents) throws {
        guard let track = contents.tracks.first(where: { $0.mediaType == .video && !$0.isAttachedPicture }),
            let planned = plan.tracks.first(where: { $0.source.mediaType == .video })
        else { return }
        let source = Asset(task.input.assetSource, timing: .fast, environment: environment)
        let original = try source.loadSynchronously().tracks.first { $0.index == planned.source.index }
        let results = ThumbnailMaker(asset: output, track: track, box: Self.box, isCancelled: isCancelled)
        let originals = original.map {
            ThumbnailMaker(asset: source, track: $0, box: Self.box, isCancelled: isCancelled)
        }
        for sixth in [1, 3, 5] as [Int64] {
            let time =
                track.timeRange.start + track.timeRange.duration.multiplied(by: sixth, dividedBy: 6)
            var pair = JobPreview.Pair()
            try attempt("the output's frame at \(time) s", &preview) { _ in
                pair.output = try results.thumbnail(at: time)
            }
            try attempt("the source's frame at \(time) s", &preview) { _ in
                pair.source = try sourceTime(of: time).flatMap { try originals?.thumbnail(at: $0) }
            }
            if pair.output != nil || pair.source != nil { preview.pairs.append(pair) }
        }
    }

    /// Returns the source time that corresponds to a time of the output; nil if it is after the last range.
    private func sourceTime(of time: MediaTime) -> MediaTime? {
        if task.input.extent.ranges.isEmpty { return time }
        var remaining = time
        for range in task.input.extent.ranges {
            if remaining < range.duration { return range.start + remaining }
            remaining = remaining - range.duration
        }
        return nil
    }
}
