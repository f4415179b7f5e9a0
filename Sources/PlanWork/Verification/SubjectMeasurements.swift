internal import JobPlan
internal import LibAV
internal import Media

/// Measurements of the subject of expectations that its description doesn't contain. `DecodedMeasurements` decodes the
/// subject.
protocol SubjectMeasurements {
    func loudness(of track: AssetTrack) throws -> Loudness
    /// Returns the duration of the longest silence.
    func longestSilence(of track: AssetTrack) throws -> MediaTime
    /// Returns the duration of the longest interval of black frames.
    func longestBlack(of track: AssetTrack) throws -> MediaTime
    /// Compares a video track of the output with its source.
    func similarity(_ metric: SimilarityMetric, of track: AssetTrack) throws -> SimilarityMeter.Outcome
    /// Decodes all tracks. Throws at damage, even if the job skips it.
    func decodeAll() throws
}

/// Measurements of an asset by decoding it, each time from its beginning.
struct DecodedMeasurements: SubjectMeasurements {
    let task: OutputTask
    let asset: Asset
    /// Section to measure.
    let extent: ReadingExtent
    /// Environment in which the source is opened.
    let environment: MediaEnvironment
    /// Polled during measurements; returning true cancels them.
    let isCancelled: @Sendable () -> Bool

    func loudness(of track: AssetTrack) throws -> Loudness {
        try LoudnessMeter(
            asset: asset, track: track, extent: extent, filters: nil, isCancelled: isCancelled
        ).measure()
    }

    func longestSilence(of track: AssetTrack) throws -> MediaTime {
        try detector(extent).longestSilence(of: track)
    }

    func longestBlack(of track: AssetTrack) throws -> MediaTime {
        try detector(extent).longestBlack(of: track)
    }

    func decodeAll() throws {
        // Damage that a check skips is an error for `decodes`.
        var strict = extent
        strict.damagePolicy = .fail
        try detector(strict).decodeAll()
    }

    private func detector(_ extent: ReadingExtent) -> SilenceBlackDetector {
        SilenceBlackDetector(asset: asset, extent: extent, isCancelled: isCancelled)
    }

    func similarity(_ metric: SimilarityMetric, of track: AssetTrack) throws -> SimilarityMeter.Outcome {
        guard let planned = task.output.tracks.first(where: { $0.source.mediaType == .video }) else {
            return .counts(source: 0, output: 0)
        }
        let source = Asset(task.input.assetSource, timing: .fast, environment: environment)
        guard
            let original = try source.loadSynchronously().tracks.first(where: {
                $0.index == planned.source.index
            })
        else { throw MediaError.sourceChanged("source track \(planned.source.index) no longer exists") }
        return try SimilarityMeter(
            source: source, sourceTrack: original, settings: planned.encoding?.video ?? VideoOutputSettings(),
            burnedSubtitles: planned.encoding?.burnedSubtitles, extent: task.input.extent, output: asset,
            track: track, isCancelled: isCancelled
        ).measure(metric)
    }
}
