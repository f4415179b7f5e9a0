internal import LibAV

extension Composition {
    /// Returns the contents of an asset of the composition: at most one video track, at most one audio track, and any number of subtitle tracks.
    /// They follow from the composition alone; no source is opened.
    /// - Throws: `MediaError.invalidArgument` if the composition is invalid, `AVError` for a format that FFmpeg doesn't support.
    package func contents() throws -> AssetContents {
        guard isValid else { throw MediaError.invalidArgument("the composition is invalid") }
        var tracks: [AssetTrack] = []
        func add(_ stream: StreamInfo) {
            tracks.append(
                AssetLoader.track(
                    stream, movie: nil, timeZero: .zero, header: nil, measured: nil,
                    summary: Demuxer.IndexSummary(), isExact: true, container: .composition))
        }
        if let canvas {
            let frames = frameCount
            var stream = StreamInfo(
                index: 0,
                parameters: try .rawVideo(
                    width: canvas.size.width, height: canvas.size.height, pixelFormat: canvas.pixelFormat,
                    color: canvas.color),
                timeBase: canvas.frameRate.inverted, duration: frames, packets: Int(clamping: frames))
            (stream.averageFrameRate, stream.baseFrameRate) = (canvas.frameRate, canvas.frameRate)
            add(stream)
        }
        if let format = audioFormat {
            add(
                StreamInfo(
                    index: tracks.count, parameters: try .rawAudio(format.mixed),
                    timeBase: Rational(1, format.sampleRate), duration: sampleCount, packets: 0))
        }
        for cues in subtitles {
            let length = duration.ticks(in: SubtitleTrack.timeBase)
            var stream = StreamInfo(
                index: tracks.count, parameters: try .subtitles(codec: SubtitleTrack.codec.libavName),
                timeBase: SubtitleTrack.timeBase, duration: length, packets: 0)
            stream.disposition = Set(cues.disposition)
            if let language = cues.language {
                stream.metadata.append(MetadataEntry(key: "language", value: language))
            }
            if let title = cues.title {
                stream.metadata.append(MetadataEntry(key: "title", value: title))
            }
            add(stream)
        }
        let end = tracks.map(\.timeRange.end).max() ?? .zero
        return AssetContents(
            container: DemuxerModel.composition.name, fileSize: 0, missingBytes: 0, tracks: tracks,
            duration: end, isDurationExact: true, timeZero: .zero, metadata: [],
            chapters: chapters)
    }
}
