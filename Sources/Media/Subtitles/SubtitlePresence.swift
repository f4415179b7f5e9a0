internal import LibAV

extension AssetContents {
    /// Whether a text subtitle track has an event in some ranges of the asset; in the whole track where `ranges` is empty. Reading stops at the
    /// first one. A track of images counts as one that has.
    /// - Throws: `MediaError` or `InputError` where the source can't be read.
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
