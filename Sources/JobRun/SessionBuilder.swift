internal import JobPlan
internal import LibAV
internal import Media

/// Builds the reader, the writer and the session that a plan says.
struct SessionBuilder {
    let plan: JobPlan

    func build(output: TemporaryFile) throws -> ReencodeSession {
        let asset = Asset(assetSource, timing: .fast)
        let contents = try asset.loadSynchronously()
        guard let container = ContainerType.named(plan.container) else {
            throw MediaError.misuse("there is no container \(plan.container)")
        }
        let reader = try AssetReader(asset: asset)
        reader.timeRange = plan.range
        let writer = AssetWriter(output: output, container: container)
        writer.metadata = plan.metadata
        writer.chapters = plan.chapters
        writer.shouldOptimizeForNetworkUse = plan.optimizesForNetwork
        let session = ReencodeSession(reader: reader, writer: writer)
        for track in plan.tracks {
            guard let source = contents.tracks.first(where: { $0.index == track.source.index }),
                source.mediaType == track.source.mediaType
            else { throw MediaError.misuse("source track \(track.source.index) is no longer there") }
            try add(track, of: source, to: session)
        }
        return session
    }

    private var assetSource: Asset.Source {
        switch plan.source {
        case .file(let path, _), .job(_, let path): .file(path)
        case .pattern(let pattern): .pattern(pattern)
        }
    }

    private func add(_ track: TrackPlan, of source: AssetTrack, to session: ReencodeSession) throws {
        let settings: ReaderOutputSettings
        let input: AssetWriterInput
        switch track.action {
        case .copy:
            settings = .passthrough
            input = AssetWriterInput(
                mediaType: source.mediaType, settings: .passthrough(source.format, timeBase: source.timeBase))
        case .encode(let encoding):
            settings =
                source.mediaType == .video
                ? .video(encoding.video ?? VideoOutputSettings())
                : .audio(encoding.audio ?? AudioOutputSettings())
            input = AssetWriterInput(mediaType: source.mediaType, settings: .encode(encoding.encoder))
        }
        input.transform = track.transform
        input.metadata = track.metadata
        input.disposition = Set(track.disposition)
        input.sideData = source.sideData.filter { track.sideData.contains($0.kind) }
        try session.addTrack(output: AssetReaderTrackOutput(track: source, settings: settings), input: input)
    }
}
