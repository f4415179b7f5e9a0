internal import LibAV

/// Detects scene changes of a track: frames whose difference from the previous frame exceeds a threshold, as measured
/// by libavfilter's `select` (`scene`).
package struct SceneDetector: Sendable {
    private let asset: Asset
    private let track: AssetTrack

    package init(asset: Asset, track: AssetTrack) {
        self.asset = asset
        self.track = track
    }

    /// Returns the presentation times of the scenes' first frames, in order, without the track's first frame; at most
    /// `limit`. `difference` is the threshold from 0 to 1. Damaged frames are skipped.
    /// - Throws: `MediaError` if the source can't be read.
    package func times(difference: Double, limit: Int) throws -> [MediaTime] {
        var settings = VideoOutputSettings()
        settings.filters = FilterChain([
            FilterStep("select", ["expr": "gt(scene,\(difference))"])
        ])
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(settings),
            extent: ReadingExtent(damagePolicy: .skip), decoderThreads: Processors.current.available)
        try samples.start()
        defer { samples.cancel() }
        var times: [MediaTime] = []
        while times.count < limit, let sample = try samples.next() {
            let time = sample.presentationTime
            if time > (times.last ?? .zero) { times.append(time) }
        }
        return times
    }
}
