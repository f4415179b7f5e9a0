internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media

/// Builds the reader, the writer and the session that a plan says.
struct SessionBuilder {
    let plan: JobPlan

    /// `loudness` is what was found of each track, by the track's position in the output.
    func build(
        output: TemporaryFile, loudness: [Int: LoudnessNormalizer.Result], passes: [Int: EncoderPass]
    ) throws -> ReencodeSession {
        let asset = Asset(plan.assetSource, timing: .fast)
        let contents = try asset.loadSynchronously()
        guard let container = ContainerType.named(plan.container) else {
            throw MediaError.misuse("there is no container \(plan.container)")
        }
        // Whether a file here changed the supervisor sees; what a server has is seen here alone.
        if case .file(let path, let identity) = plan.source, SourceLocation.isRemote(path),
            contents.fileSize != identity.size
        {
            throw JobFailure(
                "the source changed since it was planned: \(path) has \(contents.fileSize) bytes, and had \(identity.size)",
                at: plan.location, rule: .sourceUnreadable)
        }
        let reader = try AssetReader(asset: asset)
        reader.extent = plan.extent
        let writer = AssetWriter(output: output, container: container)
        writer.metadata = plan.metadata
        writer.chapters = plan.chapters
        writer.shouldOptimizeForNetworkUse = plan.optimizesForNetwork
        writer.movieFragmentInterval = plan.fragmentInterval
        writer.fileLengthLimit = plan.sizeLimit
        if case .file(let path) = plan.assetSource {
            writer.attachments = try AttachedFile.read(path: path, tracks: plan.attachments)
            writer.covers = try CoverArt.read(path: path, tracks: plan.covers)
        }
        let session = ReencodeSession(reader: reader, writer: writer)
        for (position, track) in plan.tracks.enumerated() {
            guard let source = contents.tracks.first(where: { $0.index == track.source.index }),
                source.mediaType == track.source.mediaType
            else { throw MediaError.misuse("source track \(track.source.index) is no longer there") }
            try add(
                track, of: source, in: contents, filters: loudness[position]?.filters, pass: passes[position],
                to: session)
        }
        return session
    }

    /// A session that looks at the tracks of two passes alone; what it writes is of no use. With the positions of
    /// those tracks in the output.
    func buildFirstPass(
        output: TemporaryFile, files: PassFiles
    ) throws -> (session: ReencodeSession, positions: [Int]) {
        let asset = Asset(plan.assetSource, timing: .fast)
        let contents = try asset.loadSynchronously()
        guard let container = ContainerType.named("mkv") else { throw MediaError.misuse("there is no mkv") }
        let reader = try AssetReader(asset: asset)
        reader.extent = plan.extent
        let session = ReencodeSession(
            reader: reader, writer: AssetWriter(output: output, container: container))
        var positions: [Int] = []
        for (position, track) in plan.tracks.enumerated() {
            guard case .encode(let encoding) = track.action, encoding.hasTwoPasses,
                let source = contents.tracks.first(where: { $0.index == track.source.index })
            else { continue }
            positions.append(position)
            var plain = track
            plain.transform = nil
            try add(
                plain, of: source, in: contents, filters: nil,
                pass: .first(statistics: files.path(ofTrack: position)),
                to: session)
        }
        return (session, positions)
    }

    /// What measures the loudness of each track that is to be brought to one, by the track's position.
    func normalizers() throws -> [(
        position: Int, normalizer: LoudnessNormalizer, encoding: TrackPlan.Encoding
    )] {
        let wanted = plan.tracks.enumerated().compactMap { position, track in
            if case .encode(let encoding) = track.action, let target = encoding.loudness {
                (position, track, encoding, target)
            } else {
                nil
            }
        }
        guard !wanted.isEmpty else { return [] }
        let asset = Asset(plan.assetSource, timing: .fast)
        let contents = try asset.loadSynchronously()
        let container = ContainerType.named(plan.container)
        return wanted.compactMap { position, track, encoding, target in
            let isLossless = CodecCatalog.codec(encoding.codec, of: .audio)?.isLossless ?? false
            let lossy =
                isLossless
                ? nil
                : container.map {
                    LoudnessNormalizer.LossyEncoding(
                        configuration: encoding.encoder, input: encoding.audio ?? AudioOutputSettings(),
                        container: $0)
                }
            return contents.tracks.first { $0.index == track.source.index }.map {
                (
                    position,
                    LoudnessNormalizer(
                        asset: asset, track: $0, mix: track.mix, extent: plan.extent, target: target,
                        encoding: lossy),
                    encoding
                )
            }
        }
    }

    private func add(
        _ track: TrackPlan, of source: AssetTrack, in contents: AssetContents, filters: FilterChain?,
        pass: EncoderPass?, to session: ReencodeSession
    ) throws {
        let settings: ReaderOutputSettings
        let input: AssetWriterInput
        var sampleTimeBase: Rational?
        switch track.action {
        case .copy:
            let isExact =
                source.mediaType != .audio
                || plan.joinedRanges.isEmpty
                    && (session.writer.container.hasEditLists || plan.range == nil)
            settings = isExact ? .passthrough : .wholePackets
            sampleTimeBase = countedTimeBase(of: source, in: session.writer.container)
            input = AssetWriterInput(
                mediaType: source.mediaType,
                settings: .passthrough(source.format, timeBase: sampleTimeBase ?? source.timeBase))
        case .subtitle(let codec):
            settings = .subtitle(codec)
            input = AssetWriterInput(
                mediaType: .subtitle,
                settings: .passthrough(try codec.outputFormat(of: source), timeBase: source.timeBase))
        case .smartCut(let cut):
            settings = .smartCut(cut)
            input = AssetWriterInput(
                mediaType: source.mediaType,
                settings: .passthrough(try cut.outputFormat(of: source), timeBase: cut.tick))
        case .encode(let encoding):
            var audio = encoding.audio ?? AudioOutputSettings()
            if let filters { audio.filters = filters }
            settings =
                source.mediaType == .video
                ? .video(encoding.video ?? VideoOutputSettings()) : .audio(audio)
            var encoder = encoding.encoder
            encoder.pass = pass
            input = AssetWriterInput(mediaType: source.mediaType, settings: .encode(encoder))
        }
        input.isPart = !plan.extent.ranges.isEmpty || plan.damagePolicy == .skip || plan.sizeLimit != nil
        input.transform = track.transform
        input.metadata = track.metadata
        input.nominalFrameRate = track.source.frameRate
        input.disposition = Set(track.disposition)
        input.sideData = source.sideData.filter { track.sideData.contains($0.kind) }
        let output = try AssetReaderTrackOutput(
            track: source, mix: track.mix, of: contents, settings: settings)
        if sampleTimeBase != nil { output.countsSamples = true }
        try session.addTrack(output: output, input: input)
    }

    /// The unit in which a copy's sound is counted; nil where the source's times say all that the output can.
    private func countedTimeBase(of source: AssetTrack, in container: ContainerType) -> Rational? {
        guard let unit = source.sampleTimeBase,
            container.soundTimeBase.map({ $0.double < source.timeBase.double }) ?? true
        else { return nil }
        return unit
    }
}
