internal import LibAV

/// Finds where the scenes of a track begin: where a frame differs from the one before by more than some amount, as libavfilter's `select`
/// measures it (`scene`).
package struct SceneDetector: Sendable {
    private let asset: Asset
    private let track: AssetTrack

    /// A detector for a track of video.
    package init(asset: Asset, track: AssetTrack) {
        self.asset = asset
        self.track = track
    }

    /// When the first frames of scenes are shown, in order, without the track's first frame; at most `limit`. `difference` is from 0 to 1.
    /// Frames that are damaged are left out.
    /// - Throws: `MediaError` where the source can't be read.
    package func times(difference: Double, limit: Int) throws -> [MediaTime] {
        var settings = VideoOutputSettings()
        settings.filters = FilterChain([
            FilterStep("select", ["expr": "gt(scene,\(difference))"])
        ])
        let samples = try TrackSamples(
            asset: asset, track: track, settings: .video(settings),
            extent: ReadingExtent(damagePolicy: .skip), decoderThreads: activeProcessorCount)
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
