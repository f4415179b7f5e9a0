internal import LibAV

extension AssetContents {
    /// Returns whether a text subtitle track has an event in one of the asset's `ranges`, or anywhere if `ranges` is
    /// empty. Reading stops at the first event. Returns true for tracks with bitmap subtitles.
    /// - Throws: `MediaError` or `InputError` if the source can't be read.
    package func hasSubtitleEvents(
        _ track: AssetTrack, in ranges: [TimeRange], path: String, environment: MediaEnvironment
    ) throws -> Bool {
        guard track.mediaType == .subtitle, track.format.parameters.traits.displaySets == nil else {
            return true
        }
        let samples = try TrackSamples(
            asset: Asset(.file(path), environment: environment), track: track, settings: .passthrough,
            extent: ReadingExtent(ranges: ranges, damagePolicy: .skip))
        try samples.start()
        defer { samples.cancel() }
        return try samples.next() != nil
    }
}
