internal import LibAV

/// Opens a source once and turns what libavformat and the movie boxes say into `AssetContents`.
struct AssetLoader {
    let environment: SourceEnvironment
    let interrupt: InterruptFlag
    var discovery = StreamDiscovery.decoding

    func load(_ source: Asset.Source, timing: AssetTiming) throws -> AssetContents {
        switch source {
        case .pattern(let pattern): try Self.contents(of: pattern)
        case .images(let sequence): try contents(of: sequence)
        case .composition(let composition): try Self.contents(of: composition)
        case .file(let path): try contents(ofFile: path, timing: timing)
        }
    }

    private func contents(ofFile path: String, timing: AssetTiming) throws -> AssetContents {
        var inspected: MovieInspector?
        var demuxer = try Demuxer.open(
            path: path, environment: environment, interrupt: interrupt, discovery: discovery
        ) {
            Self.pictureHeaders(codec: $0, headers: $1, opening: $2, movie: &inspected)
        }
        let container = SourceContainer(demuxer.formatName)
        let movie = container.isMovie ? inspected ?? MovieInspector(demuxer.source) : nil
        let expectedSize =
            container.isMatroska ? MatroskaInspector.segmentEnd(of: demuxer.source) ?? 0 : 0
        let hasOwnZero = container.isMovie || container.isMatroska

        var streams: [StreamInfo] = []
        for i in 0..<demuxer.streamCount {
            var stream = try demuxer.stream(i)
            if HDRMetadataSEI.areAskedFor(stream) {
                stream.sideData += HDRMetadataSEI.read(
                    path: path, stream: stream, environment: environment, interrupt: interrupt)
            }
            if ImageOrientation.isAskedFor(stream, in: container, of: demuxer.source) {
                stream.sideData += ImageOrientation.read(
                    path: path, stream: stream, environment: environment, interrupt: interrupt)
            }
            if FirstFrames.areAskedFor(stream) {
                stream.fields = FirstFrames.fields(
                    of: stream, path: path, environment: environment, interrupt: interrupt)
            }
            streams.append(stream)
        }
        var paged: [Int: Int64] = [:]
        for (index, length) in container.hasPages ? OggInspector(demuxer.source).lengths : [:]
        where streams.indices.contains(index) && streams[index].parameters.sampleRate > 0 {
            let unit = Rational(1, streams[index].parameters.sampleRate)
            paged[index] = unit.rescale(length, to: streams[index].timeBase)
            streams[index].duration = paged[index]
        }
        var gapless: [Int: GaplessTrim] = [:]
        for index in streams.indices {
            gapless[index] = movie.flatMap {
                GaplessTrim(of: streams[index], among: streams, metadata: demuxer.metadata, movie: $0)
            }
            gapless[index]?.apply(to: &streams[index])
        }
        demuxer.origins = gapless.mapValues(\.origin)
        // A fragmented file's header says nothing reliable; a size divided by a rate is a guess.
        let isHeaderUnreliable = demuxer.isDurationGuessed || movie?.isFragmented == true
        var measured: [Int: TrackMeasurement] = [:]
        // Files of subtitles alone are small and say no length.
        let kinds = Set(streams.filter { !$0.isAttachedPicture }.map(\.parameters.mediaType))
        // Bare streams say none either.
        let isBare = demuxer.duration == nil && !hasOwnZero
        // Of a program stream with one frame libavformat doesn't say where it begins.
        let hasNoStart =
            container.guessesLengths && streams.allSatisfy { !Self.tellsZero($0) || $0.startTime == nil }
        if timing == .precise || isHeaderUnreliable || isBare || hasNoStart || kinds == [.subtitle] {
            measured = try TrackMeasurement.measure(
                demuxer, streams: streams, isMovie: movie != nil, interrupt: interrupt)
        }
        // The times of some are counted while they are read (`FLACTimestamps`).
        for (index, length) in paged
        where container.guessesTimes(ofCodec: streams[index].parameters.codecName) {
            let start = measured[index]?.firstShown ?? 0
            measured[index]?.end = start.adding(upToLimit: length)
        }
        let timeZero = hasOwnZero ? .zero : Self.earliestStart(streams, hasNoStart ? measured : [:])
        let header = demuxer.duration.map { MediaTime(value: $0, timescale: 1_000_000) }
        var tracks: [AssetTrack] = []
        for stream in streams {
            tracks.append(
                Self.track(
                    stream, movie: movie, timeZero: timeZero, header: header,
                    measured: measured[stream.index],
                    summary: demuxer.indexSummary(of: stream.index),
                    isExact: movie != nil && !isHeaderUnreliable,
                    container: container, gapless: gapless[stream.index],
                    beginsBeforeKeyframe: container.beginsAnywhere
                        && FirstFrames.precedeKeyframe(
                            of: stream, path: path, environment: environment, interrupt: interrupt)
                ))
        }
        let shown = tracks.filter {
            !$0.isAttachedPicture
                && ($0.mediaType == .video || $0.mediaType == .audio || kinds == [.subtitle])
        }
        let end = shown.map(\.timeRange.end).max()
        let duration = [end, end == nil || end == .zero ? header : nil].compactMap { $0 }.max() ?? .zero
        // What inspectors of boxes and pages couldn't read, they take for absent.
        if let failure = demuxer.source.failure { throw InputError(path: path, reason: .library(failure)) }
        // Chapters count from the start of the media where a tag says what of it is presented; in ID3 from where sound is heard.
        let chapterZero =
            gapless.first.map { MediaTime(ticks: $1.origin, timeBase: streams[$0].timeBase) } ?? timeZero
        return AssetContents(
            container: container.name, fileSize: demuxer.fileSize,
            missingBytes: max(0, expectedSize - demuxer.fileSize), tracks: tracks, duration: duration,
            isDurationExact: !shown.isEmpty && shown.allSatisfy(\.isTimeRangeExact), timeZero: timeZero,
            metadata: Self.metadata(demuxer, streams: streams),
            chapters: demuxer.chapters.map {
                Self.chapter($0, timeZero: container.saysDelayInTags ? .zero : chapterZero)
            })
    }

    /// What a track's headers say of all its frames; nil where some must be decoded to find out.
    /// `movie` is kept for who needs it next.
    static func pictureHeaders(
        codec: String, headers: [UInt8], opening: PacketOpening, movie: inout MovieInspector?
    ) -> PictureHeaders? {
        guard BitstreamTraits.of(codec).parameterSets == .avc else { return nil }
        movie = movie ?? MovieInspector(opening.file)
        // Where files were joined, the first packet may stand under the headers of another one.
        guard movie?.tracks.first(where: { Int($0.id) == opening.trackID })?.changesHeaders == false else {
            return nil
        }
        return AVCPictureHeaders.read(headers, opening: opening)
    }

    /// Ogg keeps a file's tags in its first stream.
    private static func metadata(_ demuxer: borrowing Demuxer, streams: [StreamInfo]) -> [MetadataEntry] {
        let own = demuxer.metadata
        guard SourceContainer(demuxer.formatName).hasTagsInStream, let first = streams.first else {
            return own
        }
        let known = Set(own.map { $0.key.lowercased() })
        return own + first.metadata.filter { !known.contains($0.key.lowercased()) }
    }

    private static func contents(of pattern: TestPattern) throws -> AssetContents {
        var tracks: [AssetTrack] = []
        let frames = pattern.frameCount
        let video = StreamInfo(
            index: 0,
            parameters: try .rawVideo(width: pattern.width, height: pattern.height, pixelFormat: .yuv420p),
            timeBase: pattern.frameRate.inverted, duration: frames, packets: Int(clamping: frames))
        tracks.append(
            track(
                video, movie: nil, timeZero: .zero, header: nil, measured: nil,
                summary: Demuxer.IndexSummary(),
                isExact: true,
                container: .pattern)
        )
        if pattern.toneFrequency != nil {
            let rate = TestPattern.toneSampleRate
            let audio = StreamInfo(
                index: 1,
                parameters: try .rawAudio(AudioFormat(sampleFormat: .s16, sampleRate: rate, layout: .mono)),
                timeBase: Rational(1, rate), duration: pattern.sampleCount, packets: 0)
            tracks.append(
                track(
                    audio, movie: nil, timeZero: .zero, header: nil, measured: nil,
                    summary: Demuxer.IndexSummary(),
                    isExact: true, container: .pattern))
        }
        return AssetContents(
            container: SourceContainer.pattern.name, fileSize: 0, missingBytes: 0, tracks: tracks,
            duration: pattern.duration,
            isDurationExact: true,
            timeZero: .zero, metadata: [], chapters: [])
    }

    /// The earliest start of any track, for formats whose clocks begin anywhere.
    private static func earliestStart(
        _ streams: [StreamInfo], _ measured: [Int: TrackMeasurement]
    ) -> MediaTime {
        streams.filter(tellsZero).compactMap { stream in
            (stream.startTime ?? measured[stream.index]?.firstShown).map {
                MediaTime(ticks: $0, timeBase: stream.timeBase)
            }
        }.min() ?? .zero
    }

    private static func tellsZero(_ stream: StreamInfo) -> Bool {
        !stream.isAttachedPicture && stream.parameters.mediaType != .data
    }

    private static func chapter(_ chapter: ChapterInfo, timeZero: MediaTime) -> AssetChapter {
        AssetChapter(
            timeRange: TimeRange(
                start: MediaTime(ticks: chapter.start, timeBase: chapter.timeBase) - timeZero,
                end: MediaTime(ticks: chapter.end, timeBase: chapter.timeBase) - timeZero),
            title: chapter.metadata.first { $0.key == "title" && !$0.value.isEmpty }?.value)
    }

    static func track(
        _ stream: StreamInfo, movie: MovieInspector?, timeZero: MediaTime, header: MediaTime?,
        measured: TrackMeasurement?, summary: Demuxer.IndexSummary, isExact: Bool, container: SourceContainer,
        gapless: GaplessTrim? = nil, beginsBeforeKeyframe: Bool = false
    ) -> AssetTrack {
        let isMatroska = container.isMatroska
        // Where only decoding times are told, a frame is shown when the next one of its kind is decoded.
        let isLate =
            container.saysDecodingTimesAlone && stream.parameters.traits.olderVideo != nil
        let boxes = movie?.tracks.first { Int($0.id) == stream.id }
        let isFragmented = movie?.isFragmented == true
        let written =
            gapless?.edit(timeBase: stream.timeBase).map { [$0] } ?? edits(boxes, movie: movie)
        // Media past the edit list's end are not shown.
        var editEnd = written.isEmpty ? nil : written.reduce(MediaTime.zero) { $0 + $1.duration }
        // Of a fragmented file it may be about what stood in the header alone, as a recorder leaves it; one that ends
        // within the last packet is about all.
        if isFragmented, let end = editEnd, let last = measured?.lastShown,
            MediaTime(ticks: last, timeBase: stream.timeBase) >= end
        {
            editEnd = nil
        }
        let edits = isFragmented ? [] : written
        let editStart =
            isFragmented ? movie.flatMap { Self.editStart(boxes, movieTimescale: $0.movieTimescale) } : nil
        let lostShift = isFragmented ? nil : lostTimesShift(stream, boxes, summary, editEnd: editEnd)
        var (measured, summary) = (measured, summary)
        if boxes?.decodesLate == true || measured?.decodesLate == true { summary.isUnordered = true }
        if let shift = lostShift, shift > 0 {
            measured?.showAll(movedBy: shift)
            (summary.all, summary.leading) = (0, 0)
        }
        let range = timeRange(
            stream, timeZero: timeZero, header: header, measured: measured,
            edit: (editStart, editEnd), isMatroska: isMatroska, isFragmented: isFragmented,
            isLate: isLate, hasWholeIndex: movie != nil && isExact)
        var count: Int?
        if let measured {
            count = measured.shownPackets
        } else if isExact, stream.indexedPackets > 0 {
            count = stream.indexedPackets - summary.all
        }
        let format = FormatDescription(stream, cleanAperture: boxes?.cleanAperture)
        var description = TrackDescription(stream, format, container: container)
        description.timeRange = range.bounded
        description.isExact = measured != nil || isExact
        description.hasOwnDuration =
            measured != nil
            || (isMatroska ? taggedDuration(stream) != nil : stream.duration != nil)
        description.sampleCount = count
        description.frameRate = stream.averageFrameRate ?? stream.baseFrameRate ?? generatedRate(stream)
        description.title =
            stream.metadata.first {
                $0.key == "title" || $0.key == "handler_name" && isName($0.value)
            }?.value
        return AssetTrack(
            description: description, format: format,
            sampleTimeBase: container.isMovie ? nil : sampleTimeBase(of: stream), editEnd: editEnd,
            editStart: editStart, edits: edits, mediaOrigin: gapless?.origin, summary: summary,
            changesHeaders: boxes?.changesHeaders == true,
            hiddenStart: container.saysDelayInTags
                ? stream.startTime.map { MediaTime(ticks: $0, timeBase: stream.timeBase) } : nil,
            metadata: stream.metadata, sideData: stream.sideData, lostTimesShift: lostShift,
            beginsBeforeKeyframe: beginsBeforeKeyframe, hasSecondView: boxes?.hasSecondView == true)
    }

    /// Without composition offsets a packet of reordered frames claims to be shown when it is decoded. An edit list that skips the
    /// reordering delay, and lasts as long as all frames, made up for the offsets that are lost: nothing is hidden then.
    private static func lostTimesShift(
        _ stream: StreamInfo, _ boxes: MovieInspector.Track?, _ summary: Demuxer.IndexSummary,
        editEnd: MediaTime?
    ) -> Int64? {
        let parameters = stream.parameters
        guard let boxes, !boxes.hasCompositionOffsets, parameters.mediaType == .video,
            parameters.traits.randomAccess != nil, parameters.reorderDelay > 0, stream.indexedPackets > 1
        else { return nil }
        guard summary.all > 0, summary.all == summary.leading, summary.leading <= parameters.reorderDelay,
            let first = summary.firstTime, let start = stream.startTime, let last = stream.lastIndexedTime,
            start > first, let editEnd,
            last.adding(upToLimit: start - first) < editEnd.ticks(in: stream.timeBase)
        else { return 0 }
        return start - first
    }

    /// One sample, where the container's unit is neither a part of it nor, as of doubled rates, a few of them.
    private static func sampleTimeBase(of stream: StreamInfo) -> Rational? {
        let (rate, unit) = (Int64(stream.parameters.sampleRate), stream.timeBase)
        guard stream.parameters.mediaType == .audio, rate > 0, unit.isPositive else { return nil }
        let ticks = Int64(unit.den)
        let isFit = unit.num == 1 && (ticks % rate == 0 || rate % ticks == 0 && ticks >= 8000)
        return isFit ? nil : Rational(1, Int32(rate))
    }

    /// A generated frame's time base is its frame's length.
    private static func generatedRate(_ stream: StreamInfo) -> Rational? {
        stream.parameters.traits.isGenerated && stream.indexedPackets > 0
            ? stream.timeBase.inverted : nil
    }

    /// Handler names that programs write by themselves are no titles.
    private static func isName(_ handler: String) -> Bool {
        !["VideoHandler", "SoundHandler", "SubtitleHandler", "DataHandler", ""].contains(handler)
            && !handler.contains("Media Handler") && !handler.contains("Alias")
            && !handler.hasPrefix("Core Media") && !handler.contains("GPAC")
    }

    private static func edits(_ track: MovieInspector.Track?, movie: MovieInspector?) -> [TrackEdit] {
        guard let track, let movie, movie.movieTimescale > 0, track.mediaTimescale > 0
        else { return [] }
        // A duration of 0 means "to the end": nothing that limits.
        if track.edits.contains(where: { $0.duration == 0 && $0.mediaTime >= 0 }) { return [] }
        return track.edits.map { edit in
            TrackEdit(
                mediaStart: edit.mediaTime < 0
                    ? nil : MediaTime(Int128(edit.mediaTime), Int128(track.mediaTimescale)),
                duration: MediaTime(Int128(edit.duration), Int128(movie.movieTimescale)))
        }
    }

    /// The empty edits before the first that shows something.
    private static func editStart(_ track: MovieInspector.Track?, movieTimescale: UInt32) -> MediaTime? {
        guard let track, movieTimescale > 0, track.edits.contains(where: { $0.mediaTime >= 0 }) else {
            return nil
        }
        let empty = track.edits.prefix { $0.mediaTime < 0 }.reduce(MediaTime.zero) {
            $0 + MediaTime(Int128($1.duration), Int128(movieTimescale))
        }
        return empty > .zero ? empty : nil
    }

    private static func timeRange(
        _ stream: StreamInfo, timeZero: MediaTime, header: MediaTime?, measured: TrackMeasurement?,
        edit: (start: MediaTime?, end: MediaTime?), isMatroska: Bool, isFragmented: Bool, isLate: Bool,
        hasWholeIndex: Bool
    ) -> TimeRange {
        var start: MediaTime
        var end: MediaTime
        // An edit list's end bounds what is likely.
        let isBounded = isFragmented || edit.end != nil
        if let measured, let first = measured.firstShown,
            let last = isBounded ? measured.likelyEnd : measured.end
        {
            start = MediaTime(ticks: first, timeBase: stream.timeBase) - timeZero
            end = MediaTime(ticks: last, timeBase: stream.timeBase) - timeZero
        } else {
            start = max(.zero, MediaTime(ticks: stream.startTime ?? 0, timeBase: stream.timeBase) - timeZero)
            let unknown = stream.parameters.mediaType == .subtitle ? start : header ?? start
            if isMatroska {
                // It tells no track's length but the file's, which libavformat hands to every track; its
                // statistics tags say where each track ends.
                end = taggedDuration(stream) ?? unknown
            } else {
                let length = stream.duration.map { MediaTime(ticks: $0, timeBase: stream.timeBase) }
                end = length.map { start + $0 } ?? unknown
            }
        }
        if isLate, let rate = stream.averageFrameRate ?? stream.baseFrameRate {
            end = end + MediaTime(ticks: 1, timeBase: rate.inverted)
        }
        if let begin = edit.start { start = max(start, begin) }
        if let editEnd = edit.end {
            // libavformat counts an edit's media in whole samples, and lacks the length of the last packet of some
            // fragmented tracks; what the list says is what is shown.
            end = measured == nil || isFragmented ? editEnd : min(end, editEnd)
        }
        // What an index says of the last packet may be seconds; it lasts no longer than what it decodes to, which is twice
        // the core's length where a codec doubles the rate.
        if measured == nil, hasWholeIndex, stream.parameters.mediaType == .audio,
            stream.parameters.frameSize > 1, stream.parameters.sampleRate > 0,
            let last = stream.lastIndexedTime
        {
            let most = MediaTime(
                ticks: 2 * Int64(stream.parameters.frameSize),
                timeBase: Rational(1, stream.parameters.sampleRate))
            end = min(end, MediaTime(ticks: last, timeBase: stream.timeBase) - timeZero + most)
        }
        return TimeRange(start: max(start, .zero), end: max(end, start))
    }

    /// Matroska's statistics tags say how long each track is: `00:00:10.040000000`.
    private static func taggedDuration(_ stream: StreamInfo) -> MediaTime? {
        guard let text = stream.metadata.first(where: { $0.key == "DURATION" })?.value else { return nil }
        let parts = text.split(separator: ":")
        guard parts.count == 3, let hours = Int64(parts[0]), let minutes = Int64(parts[1]),
            (0..<100_000).contains(hours), (0..<60).contains(minutes)
        else { return nil }
        let seconds = parts[2].split(separator: ".")
        guard let whole = seconds.first.flatMap({ Int64($0) }), (0..<60).contains(whole) else { return nil }
        let fraction = seconds.count > 1 ? Int64((seconds[1] + "000000000").prefix(9)) ?? 0 : 0
        return MediaTime(
            Int128((hours * 60 + minutes) * 60 + whole) * 1_000_000_000 + Int128(fraction), 1_000_000_000)
    }
}
