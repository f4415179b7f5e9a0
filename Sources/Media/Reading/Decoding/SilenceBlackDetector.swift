internal import LibAV

/// Decodes tracks from start to end and measures the longest interval of silence or of black frames.
package struct SilenceBlackDetector: Sendable {
    private let asset: Asset
    private let extent: ReadingExtent
    private let isCancelled: @Sendable () -> Bool

    /// Creates a detector for an asset's tracks, or for ranges of them; `isCancelled` is called before every sample.
    package init(
        asset: Asset, extent: ReadingExtent = ReadingExtent(),
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.asset = asset
        self.extent = extent
        self.isCancelled = isCancelled
    }

    /// Returns the duration of the longest silence below -60 dB (libavfilter's `silencedetect`).
    package func longestSilence(of track: AssetTrack) throws -> MediaTime {
        var settings = AudioOutputSettings()
        settings.filters = FilterChain([FilterStep("silencedetect", ["noise": "-60dB", "duration": "0.02"])])
        return try longest(
            track, settings: .audio(settings), from: "lavfi.silence_start",
            to: "lavfi.silence_end")
    }

    /// Returns the duration of the longest interval of black frames (libavfilter's `blackdetect`).
    package func longestBlack(of track: AssetTrack) throws -> MediaTime {
        var settings = VideoOutputSettings()
        settings.filters = FilterChain([FilterStep("blackdetect", ["d": "0.02", "pix_th": "0.1"])])
        return try longest(
            track, settings: .video(settings), from: "lavfi.black_start",
            to: "lavfi.black_end")
    }

    /// Decodes all video and audio tracks. Throws at the first error.
    package func decodeAll() throws {
        for track in try asset.loadSynchronously().tracks where !track.isAttachedPicture {
            switch track.mediaType {
            case .video: try read(track, .video(VideoOutputSettings())) { _ in }
            case .audio: try read(track, .audio(AudioOutputSettings())) { _ in }
            default: continue
            }
        }
    }

    private func longest(
        _ track: AssetTrack, settings: ReaderOutputSettings, from: String, to: String
    ) throws -> MediaTime {
        var begun: Double?
        var longest = 0.0
        var end = 0.0
        // The filters' times count from the start of the samples, those of samples from the start of the asset.
        let origin = extent.outputRange?.start ?? .zero
        try read(track, settings) { sample in
            end = max(
                end,
                (MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase) - origin).seconds)
            sample.withFrame { frame in
                if let start = frame.metadata(from).flatMap({ Double($0) }) { begun = start }
                if let stop = frame.metadata(to).flatMap({ Double($0) }), let start = begun {
                    longest = max(longest, stop - start)
                    begun = nil
                }
            }
        }
        // The filters report no end for an interval that lasts until the end of the track.
        if let begun { longest = max(longest, end - begun) }
        return MediaTime(value: Int64((max(0, longest) * 1000).rounded()), timescale: 1000)
    }

    private func read(
        _ track: AssetTrack, _ settings: ReaderOutputSettings, _ body: (borrowing SampleBuffer) -> Void
    ) throws {
        let samples = try TrackSamples(
            asset: asset, track: track, settings: settings, extent: extent, isCancelled: isCancelled)
        try samples.start()
        while let sample = try samples.next() { body(sample) }
    }
}
