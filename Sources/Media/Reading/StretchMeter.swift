internal import LibAV

/// Decodes a track from end to end and finds the longest stretch of nothing in it.
public enum StretchMeter {
    /// The longest silence below -60 dB (libavfilter's `silencedetect`).
    public static func longestSilence(asset: Asset, track: AssetTrack) throws -> MediaTime {
        var settings = AudioOutputSettings()
        settings.filters = "silencedetect=noise=-60dB:duration=0.02"
        return try longest(
            asset: asset, track: track, settings: .audio(settings), from: "lavfi.silence_start",
            to: "lavfi.silence_end")
    }

    /// The longest run of black pictures (libavfilter's `blackdetect`).
    public static func longestBlack(asset: Asset, track: AssetTrack) throws -> MediaTime {
        var settings = VideoOutputSettings()
        settings.filters = "blackdetect=d=0.02:pix_th=0.1"
        return try longest(
            asset: asset, track: track, settings: .video(settings), from: "lavfi.black_start",
            to: "lavfi.black_end")
    }

    /// Decodes everything that can be seen or heard. Throws at the first error.
    public static func decodeAll(asset: Asset, contents: AssetContents) throws {
        for track in contents.tracks where !track.isAttachedPicture {
            switch track.mediaType {
            case .video: try read(asset, track, .video(VideoOutputSettings())) { _ in }
            case .audio: try read(asset, track, .audio(AudioOutputSettings())) { _ in }
            default: continue
            }
        }
    }

    private static func longest(
        asset: Asset, track: AssetTrack, settings: ReaderOutputSettings, from: String, to: String
    ) throws -> MediaTime {
        var begun: Double?
        var longest = 0.0
        var end = 0.0
        try read(asset, track, settings) { sample in
            end = max(
                end,
                MediaTime(ticks: sample.pts + sample.duration, timeBase: sample.timeBase).seconds)
            sample.withFrame { frame in
                if let start = frame.metadata(from).flatMap({ Double($0) }) { begun = start }
                if let stop = frame.metadata(to).flatMap({ Double($0) }), let start = begun {
                    longest = max(longest, stop - start)
                    begun = nil
                }
            }
        }
        // What lasts until the end is never said to have ended.
        if let begun { longest = max(longest, end - begun) }
        return MediaTime(value: Int64((max(0, longest) * 1000).rounded()), timescale: 1000)
    }

    private static func read(
        _ asset: Asset, _ track: AssetTrack, _ settings: ReaderOutputSettings,
        _ body: (borrowing SampleBuffer) -> Void
    ) throws {
        let reader = try AssetReader(asset: asset)
        let output = AssetReaderTrackOutput(track: track, settings: settings)
        try reader.add(output)
        try reader.startReading()
        while let sample = try output.copyNextSampleBuffer() { body(sample) }
    }
}
