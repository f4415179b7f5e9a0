internal import LibAV

extension TestPattern {
    /// Returns the contents of an asset of the test signal.
    /// - Throws: `AVError` if FFmpeg can't allocate the tracks' parameters.
    package func contents() throws -> AssetContents {
        var tracks: [AssetTrack] = []
        let frames = frameCount
        let video = StreamInfo(
            index: 0,
            parameters: try .rawVideo(width: width, height: height, pixelFormat: .yuv420p),
            timeBase: frameRate.inverted, duration: frames, packets: Int(clamping: frames))
        tracks.append(
            AssetLoader.track(
                video, movie: nil, timeZero: .zero, header: nil, measured: nil,
                summary: Demuxer.IndexSummary(),
                isExact: true,
                container: .pattern)
        )
        if toneFrequency != nil {
            let rate = TestPattern.toneSampleRate
            let audio = StreamInfo(
                index: 1,
                parameters: try .rawAudio(AudioFormat(sampleFormat: .s16, sampleRate: rate, layout: .mono)),
                timeBase: Rational(1, rate), duration: sampleCount, packets: 0)
            tracks.append(
                AssetLoader.track(
                    audio, movie: nil, timeZero: .zero, header: nil, measured: nil,
                    summary: Demuxer.IndexSummary(),
                    isExact: true, container: .pattern))
        }
        return AssetContents(
            container: DemuxerModel.pattern.name, fileSize: 0, missingBytes: 0, tracks: tracks,
            duration: duration,
            isDurationExact: true,
            timeZero: .zero, metadata: [], chapters: [])
    }
}
