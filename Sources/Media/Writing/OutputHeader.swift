internal import LibAV

/// Header of an output: tags, chapters, tracks, cover art and attachments, which are written before the first packet.
struct OutputHeader {
    let container: ContainerType
    let inputs: [AssetWriterInput]
    let metadata: [MetadataEntry]
    let chapters: [AssetChapter]
    /// Whether the chapters aren't part of the header, but are added before the trailer.
    let writesChaptersLate: Bool
    let covers: [CoverArt]
    let attachments: [AttachedFile]
    /// Whether the index is moved to the front of the file.
    let isForNetwork: Bool
    /// Whether the file has fragments, which the writer ends explicitly.
    let isFragmented: Bool
    /// Segments in place of a file; nil for a file.
    let segments: SegmentOutput?

    /// Parameters of a track that are fixed by the written header.
    struct Track {
        /// Time base of the input's packets. Stored here, because an input releases its encoder on another queue.
        let packetTimeBase: Rational
        /// Codec delay that the container stores in a separate field, in `packetTimeBase`.
        let codecDelay: Int64
        /// libavcodec's name of the codec.
        let codec: String
        /// Size of the codec's extradata in bytes.
        let headerSize: Int
        /// Marks audio that isn't presented; nil unless the container stores it in packets.
        var trimming: DiscardPadding?
        /// Time base of the track in the container.
        var timeBase = Rational(1, 1)
        /// Boxes to write into the sample entry; nil if libavformat writes all.
        var entryBoxes: SampleEntryBoxes?
    }

    /// A muxer with a written header, and its tracks.
    struct Opened: ~Copyable {
        let muxer: Muxer
        let tracks: [Track]
        let movieTimescale: Int32
    }

    /// Opens the encoders and writes the header to a file; nil for segments.
    func write(to descriptor: Int32?) throws -> Opened {
        var muxer = try openMuxer(descriptor)
        // A shift would move the segments of one writer against those of another.
        if !container.hasEditLists, !container.model.isMovedToZero || segments != nil {
            muxer.keepNegativeTimestamps()
        }
        let chapters = writesChaptersLate ? [] : chapters
        muxer.setMetadata(metadata + (container.model.keepsChaptersInTags ? Self.tags(of: chapters) : []))
        if !container.model.keepsChaptersInTags { try Self.setChapters(chapters, of: &muxer, in: container) }
        var tracks: [Track] = []
        for input in inputs {
            let (parameters, timeBase) = try input.open(
                container: container, globalHeaders: container.requiresGlobalHeaders)
            tracks.append(
                Track(
                    packetTimeBase: timeBase, codecDelay: codecDelay(parameters, timeBase: timeBase),
                    codec: parameters.codecName, headerSize: parameters.extradataSize,
                    trimming: DiscardPadding(container, parameters, timeBase: timeBase),
                    entryBoxes: try entryBoxes(of: input, parameters)))
            try addStream(
                input, parameters: parameters, timeBase: timeBase, boxes: tracks.last?.entryBoxes, to: &muxer)
        }
        let coverStreams = try addCovers(to: &muxer)
        for file in attachments { try muxer.addAttachment(file.bytes, metadata: file.metadata) }
        let movieTimescale = movieTimescale(tracks)
        try muxer.writeHeader(options: options(movieTimescale: movieTimescale))
        for (cover, index) in coverStreams {
            let packet = try Packet.of(cover.bytes)
            (packet.pts, packet.dts, packet.streamIndex) = (0, 0, index)
            try muxer.write(packet)
        }
        for index in tracks.indices { tracks[index].timeBase = muxer.timeBase(of: index) }
        return Opened(muxer: muxer, tracks: tracks, movieTimescale: movieTimescale)
    }

    private func openMuxer(_ descriptor: Int32?) throws -> Muxer {
        if let segments { return try Muxer.open(format: container.model.muxer, sink: segments.sink) }
        guard let descriptor else { throw MediaError.misuse("a writer requires a file or segments") }
        return try Muxer.open(format: container.model.muxer, descriptor: descriptor)
    }

    /// Time base of chapters. Players read at most milliseconds from mp4 and Matroska.
    private static let chapterUnit = Rational(1, 1_000_000)

    /// Returns chapters as Ogg comments (`CHAPTER000`, `CHAPTER000NAME`). libavformat 5.1 would write chapters that
    /// start in the second half of a second one second late.
    private static func tags(of chapters: [AssetChapter]) -> [MetadataEntry] {
        func padded(_ value: Int64, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - "\(value)".count)) + "\(value)"
        }
        return chapters.enumerated().flatMap { index, chapter in
            let time = chapter.timeRange.start.ticks(in: Rational(1, 1000))
            let (key, seconds) = ("CHAPTER" + padded(Int64(index), 3), time / 1000)
            let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }
            let start = clock.joined(separator: ":") + "." + padded(time % 1000, 3)
            return [MetadataEntry(key: key, value: start)]
                + (chapter.title.map { [MetadataEntry(key: key + "NAME", value: $0)] } ?? [])
        }
    }

    static func setChapters(
        _ chapters: [AssetChapter], of muxer: inout Muxer, in container: ContainerType
    ) throws(AVError) {
        try muxer.setChapters(
            chapters.map {
                (
                    $0.timeRange.start.ticks(in: chapterUnit), $0.timeRange.end.ticks(in: chapterUnit),
                    $0.title
                )
            }, timeBase: chapterUnit, titlesAll: container.model.titlesAllChapters)
    }

    private func addStream(
        _ input: AssetWriterInput, parameters: CodecParameters, timeBase: Rational, boxes: SampleEntryBoxes?,
        to muxer: inout Muxer
    ) throws {
        var sideData = input.sideData.filter { $0.kind != .displayMatrix }
        if let transform = input.transform, !transform.isIdentity {
            sideData.append(StreamSideData.displayMatrix(transform.matrix))
        }
        if let boxes { sideData.append(boxes.placeholder) }
        var rate: Rational?
        var tag: String?
        if case .encode(let configuration) = input.settings {
            rate = configuration.frameRate
            if container.model.hasSampleEntries { tag = parameters.traits.movieTag }
        }
        // The mov muxer has no default tag for data. In Matroska, only the tag stores the profile of some
        // codecs.
        let isTagged =
            container.model.hasSampleEntries
            ? input.mediaType == .data : parameters.traits.declaresProfileInTag
        if isTagged { tag = parameters.codecTag }
        // The mov muxer would choose codec tags by the frame rate (XDCAM).
        if case .passthrough(let format, _) = input.settings, container.model.storesFrameRate {
            rate = format.constantFrameRate
        }
        // A timecode requires a frame rate; otherwise the rate isn't set here.
        if input.metadata.contains(where: \.isTimecode) { rate = rate ?? input.nominalFrameRate }
        // For a copy, the container's aspect ratio takes precedence, as in the source.
        var aspect = parameters.sampleAspectRatio
        if case .passthrough(let format, _) = input.settings, let declared = format.pixelAspectRatio {
            aspect = declared
        }
        _ = try muxer.addStream(
            parameters, timeBase: timeBase, frameRate: rate,
            sampleAspectRatio: input.mediaType == .video && aspect.isPositive ? aspect : nil,
            metadata: metadata(of: input), disposition: input.disposition, sideData: sideData, codecTag: tag)
    }

    /// Returns the boxes of an encoded track's clean aperture; nil if it has none. Throws if it is outside the frame, or if
    /// the container can't store it.
    private func entryBoxes(
        of input: AssetWriterInput, _ parameters: CodecParameters
    ) throws -> SampleEntryBoxes? {
        guard case .encode(let configuration) = input.settings, input.mediaType == .video,
            let aperture = configuration.cleanAperture
        else { return nil }
        guard container.hasEditLists else {
            throw MediaError.invalidArgument("\(container.name) can't store a clean aperture; use mp4 or mov")
        }
        guard aperture.isInside(width: configuration.width, height: configuration.height) else {
            throw MediaError.invalidArgument(
                "\(input.reference): the clean aperture of \(aperture.width)x\(aperture.height) at \(aperture.horizontalOffset), \(aperture.verticalOffset) from the center isn't inside the frame of \(configuration.width)x\(configuration.height)"
            )
        }
        return SampleEntryBoxes(
            aperture, color: parameters.color, storesRange: container.model.storesColorRange)
    }

    /// Adds cover art: attachments in Matroska, streams with one packet in other containers.
    private func addCovers(to muxer: inout Muxer) throws -> [(cover: CoverArt, index: Int)] {
        var coverStreams: [(cover: CoverArt, index: Int)] = []
        for cover in covers {
            guard container.canHoldCover(codec: cover.parameters.codecName) else {
                throw MediaError.invalidArgument("\(container.name) can't store this cover")
            }
            if container.model.attachesCovers, let type = cover.parameters.traits.cover {
                try muxer.addAttachment(
                    cover.bytes,
                    metadata: [
                        MetadataEntry(key: "filename", value: type.name),
                        MetadataEntry(key: "mimetype", value: type.mime),
                    ])
            } else {
                let tags = cover.metadata.filter { ["title", "comment"].contains($0.key) }
                coverStreams.append((cover, try muxer.addCover(cover.parameters, metadata: tags)))
            }
        }
        return coverStreams
    }

    private func options(movieTimescale: Int32) -> [(key: String, value: String)] {
        var options = container.model.muxerOptions
        if inputs.contains(where: { $0.mediaType == .audio && $0.isPassthrough }) {
            options += container.model.copiedAudioOptions
        }
        guard container.hasEditLists else { return options }
        options += [
            (key: "movie_timescale", value: "\(movieTimescale)"), (key: "use_editlist", value: "1"),
        ]
        // QuickTime's user data has fields for few keys. The list of metadata keys stores any key, but not every player
        // reads it.
        var flags = storesKeysOfAnyName ? "+use_metadata_tags" : ""
        if inputs.contains(where: \.hasCleanAperture) { flags += "+prefer_icc" }
        if let segments {
            flags += segments.profile.movFlags
            // A timecode would be a track of its own.
            options.append((key: "write_tmcd", value: "0"))
        } else if isFragmented {
            // The movie box precedes the fragments anyway. It is written after the first packets of every
            // track, because its edit lists depend on them.
            flags += "+delay_moov+frag_custom"
        } else if isForNetwork {
            flags += "+faststart"
        }
        if !flags.isEmpty { options.append((key: "movflags", value: flags)) }
        return options
    }

    private var storesKeysOfAnyName: Bool {
        guard container.model.hasMetadataKeyList, let keys = container.metadataKeys else { return false }
        return metadata.contains { !keys.contains($0.key) }
    }

    /// Returns a track's metadata. libavformat 5.1 doesn't write a track's title to mov, so the handler name contains
    /// it.
    private func metadata(of input: AssetWriterInput) -> [MetadataEntry] {
        guard container.model.keepsTrackTitlesInHandlers,
            !input.metadata.contains(where: { $0.key == "handler_name" }),
            let title = input.metadata.first(where: { $0.key == "title" })
        else { return input.metadata }
        return input.metadata + [MetadataEntry(key: "handler_name", value: title.value)]
    }

    /// Returns a time scale in which the edits of every track are integers, because the muxer would round others.
    private func movieTimescale(_ tracks: [Track]) -> Int32 {
        var common: Int64 = 1
        for (input, track) in zip(inputs, tracks) {
            var scale = Int64(track.packetTimeBase.den)
            if input.mediaType == .video { while scale < 10_000 { scale *= 2 } }
            var (a, b) = (common, scale)
            while b != 0 { (a, b) = (b, a % b) }
            let next = common / a * scale
            if next > Int64(Int32.max) { break }
            common = next
        }
        return Int32(max(1000, common))
    }

    /// Returns the codec delay that the container stores in a separate field (Opus in Matroska), in `timeBase`; 0 for
    /// others.
    private func codecDelay(_ parameters: CodecParameters, timeBase: Rational) -> Int64 {
        guard !Muxer.addsCodecDelay, container.model.delayFields.contains(parameters.codecName) else {
            return 0
        }
        return Rational(1, 48_000).rescale(Int64(parameters.initialPadding), to: timeBase)
    }
}
