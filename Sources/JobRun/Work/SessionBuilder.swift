internal import Diagnostics
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing
internal import FileSystem

/// Builds the reader, the writers and the session that a plan says for one of its inputs.
struct SessionBuilder {
    let plan: JobPlan
    /// Which of the plan's inputs.
    let input: Int
    /// What sources are found with.
    let environment: MediaEnvironment

    private var source: InputPlan { plan.inputs[input] }
    /// The outputs that are made of it, by their places in the plan.
    var outputs: [Int] { plan.outputs.indices.filter { plan.outputs[$0].input == input } }

    /// `files` are those of all the plan's outputs, `loudness` is what was found of each track.
    func build(
        files: [TemporaryFile], loudness: [TrackPlace: LoudnessNormalizer.Result],
        passes: [TrackPlace: EncoderPass]
    ) throws -> ReencodeSession {
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        // Whether a file here changed the supervisor sees; what a server has is seen here alone.
        if case .file(let path, let identity) = source.source, SourceLocation.isRemote(path),
            contents.fileSize != identity.size
        {
            throw JobFailure(
                "the source changed since it was planned: \(path) has \(contents.fileSize) bytes, and had \(identity.size)",
                at: plan.location, rule: .sourceUnreadable)
        }
        let reader = try AssetReader(asset: asset)
        reader.extent = source.extent
        let writers = try outputs.map { try writer(for: plan.outputs[$0], to: files[$0]) }
        guard let first = writers.first else { throw MediaError.misuse("an input of which nothing is made") }
        let session = ReencodeSession(reader: reader, writer: first, others: Array(writers.dropFirst()))
        for (index, writer) in zip(outputs, writers) {
            for (position, track) in plan.outputs[index].tracks.enumerated() {
                guard let found = contents.tracks.first(where: { $0.index == track.source.index }),
                    found.mediaType == track.source.mediaType
                else { throw MediaError.misuse("source track \(track.source.index) is no longer there") }
                let place = TrackPlace(output: index, track: position)
                try add(
                    track, of: found, in: contents, filters: loudness[place]?.filters, pass: passes[place],
                    to: session, writer, isPart: plan.outputs[index].sizeLimit != nil)
            }
        }
        return session
    }

    private func writer(for output: OutputPlan, to file: TemporaryFile) throws -> AssetWriter {
        guard let container = ContainerType.named(output.container) else {
            throw MediaError.misuse("there is no container \(output.container)")
        }
        let writer = AssetWriter(output: file, container: container)
        writer.metadata = output.metadata
        writer.chapters = output.chapters
        writer.shouldOptimizeForNetworkUse = output.optimizesForNetwork
        writer.movieFragmentInterval = output.fragmentInterval
        writer.fileLengthLimit = output.sizeLimit
        if case .file(let path) = source.assetSource {
            writer.attachments = try AttachedFile.read(
                path: path, tracks: output.attachments, environment: environment.sources)
            writer.covers = try CoverArt.read(
                path: path, tracks: output.covers, environment: environment.sources)
        }
        return writer
    }

    /// A session that looks at the tracks of two passes alone; what it writes is of no use. With those tracks; nil where
    /// there are none.
    func buildFirstPass(
        scratch: TemporaryFile, files: PassFiles
    ) throws -> (session: ReencodeSession, tracks: [TrackPlace])? {
        guard outputs.contains(where: { plan.outputs[$0].hasTwoPasses }) else { return nil }
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        guard let container = ContainerType.named("mkv") else { throw MediaError.misuse("there is no mkv") }
        let reader = try AssetReader(asset: asset)
        reader.extent = source.extent
        let writer = AssetWriter(output: scratch, container: container)
        let session = ReencodeSession(reader: reader, writer: writer)
        var tracks: [TrackPlace] = []
        for index in outputs {
            for (position, track) in plan.outputs[index].tracks.enumerated() {
                guard case .encode(let encoding) = track.action, encoding.hasTwoPasses,
                    let found = contents.tracks.first(where: { $0.index == track.source.index })
                else { continue }
                let place = TrackPlace(output: index, track: position)
                tracks.append(place)
                var plain = track
                plain.transform = nil
                try add(
                    plain, of: found, in: contents, filters: nil,
                    pass: .first(statistics: files.path(of: place)), to: session, writer, isPart: false)
            }
        }
        return (session, tracks)
    }

    /// What measures the loudness of each track that is to be brought to one.
    func normalizers() throws -> [(
        place: TrackPlace, normalizer: LoudnessNormalizer, encoding: TrackPlan.Encoding
    )] {
        var wanted: [(TrackPlace, TrackPlan, TrackPlan.Encoding, LoudnessTarget)] = []
        for index in outputs {
            for (position, track) in plan.outputs[index].tracks.enumerated() {
                guard case .encode(let encoding) = track.action, let target = encoding.loudness else {
                    continue
                }
                wanted.append((TrackPlace(output: index, track: position), track, encoding, target))
            }
        }
        guard !wanted.isEmpty else { return [] }
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        return wanted.compactMap { place, track, encoding, target in
            let container = ContainerType.named(plan.outputs[place.output].container)
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
                    place,
                    LoudnessNormalizer(
                        asset: asset, track: $0, mix: track.mix, extent: source.extent, target: target,
                        encoding: lossy),
                    encoding
                )
            }
        }
    }

    private func add(
        _ track: TrackPlan, of source: AssetTrack, in contents: AssetContents, filters: FilterChain?,
        pass: EncoderPass?, to session: ReencodeSession, _ writer: AssetWriter, isPart: Bool
    ) throws {
        let settings: ReaderOutputSettings
        let input: AssetWriterInput
        var sampleTimeBase: Rational?
        switch track.action {
        case .copy:
            let isExact =
                source.mediaType != .audio
                || self.source.joinedRanges.isEmpty
                    && (writer.container.hasEditLists || self.source.range == nil)
            settings = isExact ? .passthrough : .wholePackets
            sampleTimeBase = countedTimeBase(of: source, in: writer.container)
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
        input.isPart = !self.source.extent.ranges.isEmpty || self.source.damagePolicy == .skip || isPart
        input.transform = track.transform
        input.metadata = track.metadata
        input.nominalFrameRate = track.source.frameRate
        input.disposition = Set(track.disposition)
        input.sideData = source.sideData.filter { track.sideData.contains($0.kind) }
        let output = try AssetReaderTrackOutput(
            track: source, mix: track.mix, of: contents, settings: settings)
        if sampleTimeBase != nil { output.countsSamples = true }
        try session.addTrack(output: output, input: input, writer: writer)
    }

    /// The unit in which a copy's audio is counted; nil where the source's times say all that the output can.
    private func countedTimeBase(of source: AssetTrack, in container: ContainerType) -> Rational? {
        guard let unit = source.sampleTimeBase,
            container.soundTimeBase.map({ $0.double < source.timeBase.double }) ?? true
        else { return nil }
        return unit
    }
}
