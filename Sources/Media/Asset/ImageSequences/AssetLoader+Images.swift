internal import LibAV

/// Image sequences as assets with one video track.
extension AssetLoader {
    /// Loads a sequence. The first image determines the track's format; others are converted to it.
    func contents(of sequence: ImageSequence) throws -> AssetContents {
        guard sequence.isValid else { throw MediaError.invalidArgument("the image sequence is invalid") }
        let path = sequence.files[0]
        let image = try load(.file(path), timing: .fast)
        guard image.demuxer.isImageFile, image.tracks.count == 1,
            let track = image.tracks.first, track.mediaType == .video
        else { throw InputError(path: path, reason: .noImage(format: image.container)) }
        let frames = sequence.frameCount
        var stream = StreamInfo(
            index: 0, parameters: track.format.parameters, timeBase: sequence.frameRate.inverted,
            duration: frames, packets: Int(clamping: frames))
        (stream.averageFrameRate, stream.baseFrameRate) = (sequence.frameRate, sequence.frameRate)
        stream.sampleAspectRatio = track.format.pixelAspectRatio
        if let transform = track.preferredTransform {
            stream.sideData.append(.displayMatrix(transform.matrix))
        }
        let video = Self.track(
            stream, movie: nil, timeZero: .zero, header: nil, measured: nil, summary: Demuxer.IndexSummary(),
            isExact: true, container: .pattern)
        return AssetContents(
            container: DemuxerModel.images.name, fileSize: 0, missingBytes: 0, tracks: [video],
            duration: sequence.duration, isDurationExact: true, timeZero: .zero, metadata: [], chapters: [])
    }
}
