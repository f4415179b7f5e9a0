internal import Diagnostics
internal import ExactStrings
internal import JobPlan
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing
internal import FileSystem
internal import Streaming

/// The builder of reader, writers and session for one input of a plan.
struct SessionBuilder {
    var plan: JobPlan
    /// Index of the input in the plan.
    let input: Int
    /// Environment in which sources are opened.
    let environment: MediaEnvironment
    /// Whether other jobs may run at the same time (`WorkOrder.sharesProcessors`).
    let sharesProcessors: Bool
    /// Indices of the outputs that are created; nil for all of the input.
    var selected: Set<Int>?

    var source: InputPlan { plan.inputs[input] }
    /// Indices of the media outputs that are created from the input.
    var outputs: [Int] {
        plan.outputs.indices.filter {
            plan.outputs[$0].input == input && plan.outputs[$0].kind.plan.isWrittenBySession
                && selected?.contains($0) != false
        }
    }

    /// Builds the session of the input, with the recorders of the outputs that are written in segments. `files` are the files of all outputs, `loudness` the measured loudness of each
    /// track, and `passes` the statistics of the first pass.
    func build(
        files: [TemporaryFile], loudness: [TrackIndex: LoudnessNormalizer.Result],
        passes: [TrackIndex: EncoderPass]
    ) throws -> (session: ReencodeSession, recorders: [Int: SegmentRecorder]) {
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        try checkRemote(contents)
        let reader = try AssetReader(asset: asset)
        reader.extent = source.extent
        var recorders: [Int: SegmentRecorder] = [:]
        for index in outputs where plan.outputs[index].media?.segmentation != nil {
            recorders[index] = SegmentRecorder(files[index])
        }
        let writers = try outputs.map { try writer(for: plan.outputs[$0], to: files[$0], recorders[$0]) }
        guard let first = writers.first else { throw MediaError.internalError("the input has no output") }
        let session = ReencodeSession(reader: reader, writer: first, others: Array(writers.dropFirst()))
        var others: [ExactString: (reader: AssetReader, contents: AssetContents)] = [:]
        for (index, writer) in zip(outputs, writers) {
            for (position, track) in plan.outputs[index].tracks.enumerated() {
                let other = try track.file.map { try others[$0.path.exact] ?? open($0) }
                if let other, let file = track.file { others[file.path.exact] = other }
                let contents = other?.contents ?? contents
                let found = try Self.track(of: track, in: contents)
                let trackIndex = TrackIndex(output: index, track: position)
                let track = tagged(track, of: plan.outputs[index], loudness[trackIndex]?.after, in: writer)
                try add(
                    track, of: found, in: contents, filters: loudness[trackIndex]?.filters,
                    pass: passes[trackIndex], id: plan.trackID(trackIndex),
                    to: session, writer, readBy: other?.reader,
                    isPart: plan.outputs[index].media?.sizeLimit != nil)
            }
        }
        return (session, recorders)
    }

    /// Opens a subtitle file, of which the ranges of the source are read.
    private func open(_ file: SubtitleFilePlan) throws -> (reader: AssetReader, contents: AssetContents) {
        try check(file)
        let asset = Asset(.file(file.path), timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        let reader = try AssetReader(asset: asset)
        reader.extent = source.extent
        if let end = file.end {
            reader.extent.ranges = [TimeRange(start: .zero, end: end)]
            reader.extent.isOpen = false
        }
        return (reader, contents)
    }

    /// Throws if a subtitle file of the outputs has changed since planning.
    func checkAddedFiles() throws {
        var seen: Set<ExactString> = []
        for file in outputs.flatMap({ plan.outputs[$0].tracks }).flatMap(\.addedFiles)
        where seen.insert(file.path.exact).inserted {
            try check(file)
        }
    }

    private func check(_ file: SubtitleFilePlan) throws {
        do throws(FileProblem) {
            try file.contents.check(
                path: file.path, limit: SubtitleFilePlan.maxBytes, environment: environment.sources)
        } catch {
            throw JobFailure(
                "the subtitle file \(file.path): \(error)", at: file.location, rule: .sourceUnreadable)
        }
    }

    /// Returns a track with loudness tags. If the container has no track tags, or the track is its only one, they are
    /// set on the file instead. Tags that the job sets take precedence.
    private func tagged(
        _ track: TrackPlan, of output: OutputPlan, _ loudness: Loudness?, in writer: AssetWriter
    ) -> TrackPlan {
        guard case .encode(let encoding) = track.action, encoding.loudness?.writesTags == true, let loudness,
            let container = ContainerType.named(output.container)
        else { return track }
        let set = Set((output.metadata + track.metadata).map { $0.key.lowercased() })
        let tags = LoudnessTags.of(loudness, codec: encoding.codec).filter {
            !set.contains($0.key.lowercased())
        }
        guard container.model.hasTrackTags, !container.model.isSingleTrack else {
            writer.metadata += tags
            return track
        }
        var track = track
        track.metadata += tags
        return track
    }

    /// Throws if a remote source has changed. Local sources are checked by the supervisor, remote ones by the worker
    /// that reads them.
    func checkRemote(_ contents: AssetContents) throws {
        guard case .file(let path, let identity) = source.source, SourceLocation.isRemote(path),
            contents.fileSize != identity.size
        else { return }
        throw JobFailure(
            "the source changed since it was planned: \(path) has \(contents.fileSize) bytes instead of \(identity.size)",
            at: plan.location, rule: .sourceUnreadable)
    }

    static func track(of planned: TrackPlan, in contents: AssetContents) throws -> AssetTrack {
        guard let found = contents.tracks.first(where: { $0.index == planned.source.index }),
            found.mediaType == planned.source.mediaType
        else { throw MediaError.sourceChanged("source track \(planned.source.index) no longer exists") }
        return found
    }

    private func writer(
        for output: OutputPlan, to file: TemporaryFile, _ recorder: SegmentRecorder?
    ) throws -> AssetWriter {
        guard let container = ContainerType.named(output.container), let media = output.media else {
            throw MediaError.internalError("unknown container \(output.container)")
        }
        if let recorder, let segmentation = media.segmentation {
            guard let container = SegmentContainer(rawValue: container.name) else {
                throw MediaError.internalError("\(container.name) has no segments")
            }
            let writer = AssetWriter(segments: container.profile, delegate: recorder)
            writer.metadata = media.metadata
            writer.preferredOutputSegmentInterval = segmentation.interval
            writer.segmentStartTimes = segmentation.boundaries
            return writer
        }
        let writer = AssetWriter(output: file, container: container)
        writer.metadata = media.metadata
        writer.chapters = media.chapters
        writer.shouldOptimizeForNetworkUse = media.optimizesForNetwork
        writer.movieFragmentInterval = media.fragmentInterval
        writer.fileLengthLimit = media.sizeLimit
        if let cover = media.cover { writer.covers = [try read(cover)] }
        if case .file(let path) = source.assetSource {
            writer.attachments = try AttachedFile.read(
                path: path, tracks: media.attachments, environment: environment.sources)
            writer.covers += try CoverArt.read(
                path: path, tracks: media.covers, environment: environment.sources)
        }
        return writer
    }

    private func read(_ cover: CoverPlan) throws -> CoverArt {
        do {
            return try CoverArt.read(cover.image, path: cover.path, environment: environment.sources)
        } catch let problem as FileProblem {
            throw JobFailure(
                "the cover \(cover.path): \(problem)", at: cover.location, rule: .sourceUnreadable)
        }
    }

    /// Builds the session of the first pass, which reads only tracks with two passes and whose output is discarded.
    /// Returns the session and these tracks.
    func buildFirstPass(
        scratch: TemporaryFile, files: PassFiles
    ) throws -> (session: ReencodeSession, tracks: [TrackIndex]) {
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let contents = try asset.loadSynchronously()
        let reader = try AssetReader(asset: asset)
        reader.extent = source.extent
        let writer = AssetWriter(output: scratch, container: .matroska)
        let session = ReencodeSession(reader: reader, writer: writer)
        var tracks: [TrackIndex] = []
        for index in outputs {
            for (position, track) in plan.outputs[index].tracks.enumerated() {
                guard case .encode(let encoding) = track.action, encoding.hasTwoPasses,
                    let found = contents.tracks.first(where: { $0.index == track.source.index })
                else { continue }
                let trackIndex = TrackIndex(output: index, track: position)
                tracks.append(trackIndex)
                var plain = track
                plain.transform = nil
                try add(
                    plain, of: found, in: contents, filters: nil,
                    pass: .first(statistics: files.path(of: trackIndex)), id: plan.trackID(trackIndex),
                    to: session, writer, readBy: nil, isPart: false)
            }
        }
        return (session, tracks)
    }

    /// Returns the loudness normalizer of a track, and the track's encoding.
    func normalizer(
        of trackIndex: TrackIndex
    ) throws -> (normalizer: LoudnessNormalizer, encoding: TrackPlan.Encoding) {
        let track = plan.outputs[trackIndex.output].tracks[trackIndex.track]
        guard case .encode(let encoding) = track.action, let target = encoding.loudness else {
            throw MediaError.internalError("the track has no loudness target")
        }
        let asset = Asset(source.assetSource, timing: .fast, environment: environment)
        let found = try Self.track(of: track, in: asset.loadSynchronously())
        let isLossless = encoding.encoder.model?.isLossless == true
        let lossy =
            isLossless
            ? nil
            : ContainerType.named(plan.outputs[trackIndex.output].container).map {
                LoudnessNormalizer.LossyEncoding(
                    configuration: encoding.encoder, input: encoding.audio ?? AudioOutputSettings(),
                    container: $0)
            }
        let normalizer = LoudnessNormalizer(
            asset: asset, track: found, mix: track.mix, extent: source.extent, target: target, encoding: lossy
        )
        return (normalizer, encoding)
    }

    private func add(
        _ track: TrackPlan, of source: AssetTrack, in contents: AssetContents, filters: FilterChain?,
        pass: EncoderPass?, id: Int, to session: ReencodeSession, _ writer: AssetWriter,
        readBy reader: AssetReader?, isPart: Bool
    ) throws {
        // Packets that are copied from a composition have the format of a clip's track.
        let packets = try (reader == nil ? clipTrack(of: track) : nil) ?? source
        var settings = try TrackSettings(track, of: packets, from: self.source, in: writer.container)
        if let filters, case .audio(var audio) = settings.reader {
            audio.filters = filters
            settings.reader = .audio(audio)
        }
        if case .encode(var encoder) = settings.writer {
            encoder.pass = pass
            settings.writer = .encode(encoder)
        }
        let input = AssetWriterInput(mediaType: source.mediaType, settings: settings.writer)
        input.isPart =
            !self.source.extent.ranges.isEmpty || self.source.damagePolicy == .skip || isPart
            || self.source.isComposition
        input.id = id
        input.sharesProcessors = sharesProcessors
        input.maxChunks = track.encoding?.maxChunks
        input.transform = track.transform
        input.metadata = track.metadata
        input.nominalFrameRate = track.source.frameRate
        input.disposition = Set(track.disposition)
        input.sideData =
            track.composing == nil ? packets.sideData.filter { track.sideData.contains($0.kind) } : []
        if let encoding = track.encoding, let files = encoding.chunkFiles, !files.isEmpty {
            input.storedChunks = try StoredChunks(
                files: files.map { ($0.chunks.indices, $0.path) }, identity: encoding.chunkIdentity(),
                environment: environment.sources)
        }
        let output = try output(of: track, source, in: contents, settings)
        try session.addTrack(output: output, input: input, writer: writer, readBy: reader)
    }

    /// Creates the reader's output for a track.
    private func output(
        of track: TrackPlan, _ source: AssetTrack, in contents: AssetContents, _ settings: TrackSettings
    ) throws -> AssetReaderOutput {
        let output = try AssetReaderOutput.output(
            of: source, mix: track.mix, composing: track.composing, in: contents, settings: settings.reader)
        output.countsSamples = settings.countsSamples
        output.burnedSubtitles = track.encoding?.burnedSubtitles
        return output
    }

    /// Creates a reader of a track that is read alone, as a session would read it.
    func readerOutput(
        of opened: OutputSource, in container: ContainerType
    ) throws -> (AssetReader, AssetReaderOutput) {
        let reader = try AssetReader(asset: opened.asset)
        reader.extent = source.extent
        let settings = try TrackSettings(opened.planned, of: opened.track, from: source, in: container)
        let contents = try opened.asset.loadSynchronously()
        return (reader, try output(of: opened.planned, opened.track, in: contents, settings))
    }

    /// Returns the clip track that determines the output's format if clips of a composition are copied; nil otherwise.
    private func clipTrack(of track: TrackPlan) throws -> AssetTrack? {
        guard case .composition(let composition) = source.assetSource else { return nil }
        let packets = CompositionPackets(composition, environment: environment)
        switch track.action {
        case .smartCut(let cut): return try packets.reference(of: cut).track
        case .copy where track.source.mediaType == .audio: return try packets.audioReference()
        default: return nil
        }
    }
}
