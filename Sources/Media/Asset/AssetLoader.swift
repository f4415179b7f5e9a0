internal import LibAV

/// Loader of an asset's contents. It combines the properties that libavformat reports with those of boxes, pages and
/// packets that libavformat doesn't report.
struct AssetLoader {
    let environment: SourceEnvironment
    let interrupt: InterruptFlag
    var discovery = StreamDiscovery.decoding

    func load(_ source: Asset.Source, timing: AssetTiming) throws -> AssetContents {
        switch source {
        case .pattern(let pattern): try pattern.contents()
        case .images(let sequence): try contents(of: sequence)
        case .composition(let composition): try composition.contents()
        case .file(let path): try contents(ofFile: path, timing: timing)
        }
    }

    private func contents(ofFile path: String, timing: AssetTiming) throws -> AssetContents {
        if let package = environment.packages[path] {
            return try contents(of: package, at: path, timing: timing)
        }
        return try contents(ofSingleFile: path, timing: timing)
    }

    func contents(ofSingleFile path: String, timing: AssetTiming) throws -> AssetContents {
        var inspected: MovieInspector?
        var demuxer = try Demuxer.open(
            path: path, environment: environment, interrupt: interrupt, discovery: discovery
        ) {
            Self.videoHeaders(codec: $0, headers: $1, opening: $2, movie: &inspected)
        }
        let container = demuxer.model
        let movie = container.isMovie ? inspected ?? MovieInspector(demuxer.source) : nil
        let expectedSize =
            container.isMatroska ? MatroskaInspector.segmentEnd(of: demuxer.source) ?? 0 : 0

        var streams: [StreamInfo] = []
        for index in 0..<demuxer.streamCount {
            streams.append(
                withDataProperties(try demuxer.stream(index), in: container, of: demuxer.source, path: path))
        }
        let paged = container.hasPages ? Self.setPagedDurations(of: &streams, demuxer.source) : [:]
        let gapless = movie.map { Self.applyTagTrims(&streams, metadata: demuxer.metadata, movie: $0) } ?? [:]
        demuxer.origins = gapless.mapValues(\.origin)
        // Declared durations of a fragmented file are unreliable, and so is a duration computed from size and
        // bit rate.
        let isHeaderUnreliable = demuxer.isDurationGuessed || movie?.isFragmented == true
        var measured: [Int: TrackMeasurement] = [:]
        // Subtitle files are small and declare no duration.
        let kinds = Set(streams.filter { !$0.isAttachedPicture }.map(\.parameters.mediaType))
        // Elementary streams declare no duration either.
        let hasNoDuration = demuxer.duration == nil && !container.hasTimeZero
        // libavformat reports no start time of a program stream with a single frame.
        let hasNoStart =
            container.estimatesDurations
            && streams.allSatisfy { !Self.definesTimeZero($0) || $0.startTime == nil }
        if timing == .precise || isHeaderUnreliable || hasNoDuration || hasNoStart || kinds == [.subtitle] {
            measured = try TrackMeasurement.measure(
                demuxer, streams: streams, isMovie: movie != nil, interrupt: interrupt)
        }
        // FLAC in Ogg: timestamps are estimated while packets are read (`FLACTimestamps`), so the pages determine the
        // end.
        for (index, length) in paged
        where container.estimatedCodecs.contains(streams[index].parameters.codecName) {
            let start = measured[index]?.firstShown ?? 0
            measured[index]?.end = start.adding(upToLimit: length)
        }
        let timeZero =
            container.hasTimeZero ? .zero : Self.earliestStart(streams, hasNoStart ? measured : [:])
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
                    beginsBeforeKeyframe: container.hasArbitraryStart
                        && FirstFrames.precedeKeyframe(
                            of: stream, path: path, environment: environment, interrupt: interrupt)
                ))
        }
        let shown = Self.durationTracks(tracks, kinds)
        let end = shown.map(\.timeRange.end).max()
        let duration = [end, end == nil || end == .zero ? header : nil].compactMap { $0 }.max() ?? .zero
        // Inspectors of boxes and pages treat unreadable data as absent, so read errors are reported here.
        if let failure = demuxer.source.failure { throw InputError(path: path, reason: .library(failure)) }
        // If a tag declares the presented part, chapter times count from the start of the media; in ID3 tags,
        // from the start of the presented audio.
        let chapterZero =
            gapless.first.map { MediaTime(ticks: $1.origin, timeBase: streams[$0].timeBase) } ?? timeZero
        return AssetContents(
            container: container.name, fileSize: demuxer.fileSize,
            missingBytes: max(0, expectedSize - demuxer.fileSize), tracks: tracks, duration: duration,
            isDurationExact: !shown.isEmpty && shown.allSatisfy(\.isTimeRangeExact), timeZero: timeZero,
            metadata: Self.metadata(demuxer, streams: streams),
            chapters: demuxer.chapters.map {
                Self.chapter($0, timeZero: container.storesDelayInTags ? .zero : chapterZero)
            })
    }

    /// Returns the tracks that determine the duration: video and audio, or subtitles if there is nothing else.
    private static func durationTracks(_ tracks: [AssetTrack], _ kinds: Set<MediaType>) -> [AssetTrack] {
        tracks.filter {
            !$0.isAttachedPicture
                && ($0.mediaType == .video || $0.mediaType == .audio || kinds == [.subtitle])
        }
    }

    /// Applies the trims that tags declare to the streams of a movie, and returns them by stream index.
    private static func applyTagTrims(
        _ streams: inout [StreamInfo], metadata: [MetadataEntry], movie: MovieInspector
    ) -> [Int: GaplessTrim] {
        var trims: [Int: GaplessTrim] = [:]
        for index in streams.indices {
            trims[index] = GaplessTrim(
                of: streams[index], among: streams, metadata: metadata, movie: movie)
            trims[index]?.apply(to: &streams[index])
        }
        return trims
    }

    /// Sets the durations of an Ogg file's audio streams from its pages. Returns them by stream index, in the units of
    /// each time base.
    private static func setPagedDurations(
        of streams: inout [StreamInfo], _ source: any ByteSource
    ) -> [Int: Int64] {
        var durations: [Int: Int64] = [:]
        for (index, length) in OggInspector(source).lengths
        where streams.indices.contains(index) && streams[index].parameters.sampleRate > 0 {
            let unit = Rational(1, streams[index].parameters.sampleRate)
            durations[index] = unit.rescale(length, to: streams[index].timeBase)
            streams[index].duration = durations[index]
        }
        return durations
    }

    /// Returns the stream with the properties that only its packets contain: HDR metadata, orientation, and field
    /// order.
    private func withDataProperties(
        _ stream: StreamInfo, in container: DemuxerModel, of source: any ByteSource, path: String
    ) -> StreamInfo {
        var stream = stream
        if HDRMetadataSEI.needsInspection(stream) {
            stream.sideData += HDRMetadataSEI.read(
                path: path, stream: stream, environment: environment, interrupt: interrupt)
        }
        if ImageOrientation.needsInspection(stream, in: container, of: source) {
            stream.sideData += ImageOrientation.read(
                path: path, stream: stream, environment: environment, interrupt: interrupt)
        }
        if FirstFrames.needsInspection(stream) {
            stream.fields = FirstFrames.fieldOrder(
                of: stream, path: path, environment: environment, interrupt: interrupt)
        }
        return stream
    }

    /// Returns the properties that a track's headers declare for all its frames; nil if frames must be
    /// decoded to determine them. `movie` receives the inspector, if one is created, for reuse.
    static func videoHeaders(
        codec: String, headers: [UInt8], opening: PacketOpening, movie: inout MovieInspector?
    ) -> VideoHeaders? {
        guard BitstreamTraits.of(codec).parameterSets == .avc else { return nil }
        movie = movie ?? MovieInspector(opening.file)
        // In a concatenated file, the first packet may use another sample entry than the first one in `stsd`.
        guard movie?.tracks.first(where: { Int($0.id) == opening.trackID })?.changesHeaders == false else {
            return nil
        }
        return AVCVideoHeaders.read(headers, opening: opening)
    }

    /// Returns the file's metadata, including that of the first stream for containers that store tags there (Ogg).
    private static func metadata(_ demuxer: borrowing Demuxer, streams: [StreamInfo]) -> [MetadataEntry] {
        let own = demuxer.metadata
        guard demuxer.model.hasTagsInStream, let first = streams.first else {
            return own
        }
        let known = Set(own.map { $0.key.lowercased() })
        return own + first.metadata.filter { !known.contains($0.key.lowercased()) }
    }

    /// Returns the earliest start time of any track, for containers whose timestamps start at an arbitrary value.
    private static func earliestStart(
        _ streams: [StreamInfo], _ measured: [Int: TrackMeasurement]
    ) -> MediaTime {
        streams.filter(definesTimeZero).compactMap { stream in
            (stream.startTime ?? measured[stream.index]?.firstShown).map {
                MediaTime(ticks: $0, timeBase: stream.timeBase)
            }
        }.min() ?? .zero
    }

    private static func definesTimeZero(_ stream: StreamInfo) -> Bool {
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
        measured: TrackMeasurement?, summary: Demuxer.IndexSummary, isExact: Bool, container: DemuxerModel,
        gapless: GaplessTrim? = nil, beginsBeforeKeyframe: Bool = false
    ) -> AssetTrack {
        let isMatroska = container.isMatroska
        // With decoding times only (AVI), a reference frame is presented when the next one is decoded, so the
        // track ends a frame later.
        let isLate =
            container.storesOnlyDecodingTimes && stream.parameters.traits.olderVideo != nil
        let boxes = movie?.tracks.first { Int($0.id) == stream.id }
        let isFragmented = movie?.isFragmented == true
        let written =
            gapless?.edit(timeBase: stream.timeBase).map { [$0] } ?? edits(boxes, movie: movie)
        // Media past the end of the edit list isn't presented.
        var editEnd = written.isEmpty ? nil : written.reduce(MediaTime.zero) { $0 + $1.duration }
        // In a fragmented file, the edit list may cover only the samples of the movie box, as some recorders write it;
        // it is then ignored. An edit list that ends within the last packet covers all samples.
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
                $0.key == "title" || $0.key == "handler_name" && isTitle($0.value)
            }?.value
        return AssetTrack(
            description: description, format: format,
            sampleTimeBase: container.isMovie ? nil : sampleTimeBase(of: stream), editEnd: editEnd,
            editStart: editStart, edits: edits, mediaOrigin: gapless?.origin, summary: summary,
            changesHeaders: boxes?.changesHeaders == true,
            hiddenStart: container.storesDelayInTags
                ? stream.startTime.map { MediaTime(ticks: $0, timeBase: stream.timeBase) } : nil,
            metadata: stream.metadata, sideData: stream.sideData, lostTimesShift: lostShift,
            beginsBeforeKeyframe: beginsBeforeKeyframe, hasSecondView: boxes?.hasSecondView == true)
    }

    /// Returns the shift that restores presentation times of reordered frames in a track without composition
    /// offsets; nil for any other track. Without the offsets, each packet's presentation time equals its
    /// decoding time. An edit list that skips just the reorder delay, and is as long as all frames,
    /// compensates for the lost offsets; it hides no frame, and its start is the shift. Otherwise the shift is 0.
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

    /// Returns the duration of one audio sample if the stream's time base can't represent sample positions; nil if it
    /// can. A tick of several samples is sufficient, since SBR doubles the sample rate.
    private static func sampleTimeBase(of stream: StreamInfo) -> Rational? {
        let (rate, unit) = (Int64(stream.parameters.sampleRate), stream.timeBase)
        guard stream.parameters.mediaType == .audio, rate > 0, unit.isPositive else { return nil }
        let ticks = Int64(unit.den)
        let isFit = unit.num == 1 && (ticks % rate == 0 || rate % ticks == 0 && ticks >= 8000)
        return isFit ? nil : Rational(1, Int32(rate))
    }

    /// Returns the frame rate of generated frames, whose time base is the frame duration.
    private static func generatedRate(_ stream: StreamInfo) -> Rational? {
        stream.parameters.traits.isGenerated && stream.indexedPackets > 0
            ? stream.timeBase.inverted : nil
    }

    /// Returns whether a handler name is a title rather than a default of the program that wrote the file.
    private static func isTitle(_ handler: String) -> Bool {
        !["VideoHandler", "SoundHandler", "SubtitleHandler", "DataHandler", ""].contains(handler)
            && !handler.contains("Media Handler") && !handler.contains("Alias")
            && !handler.hasPrefix("Core Media") && !handler.contains("GPAC")
    }

    private static func edits(_ track: MovieInspector.Track?, movie: MovieInspector?) -> [TrackEdit] {
        guard let track, let movie, movie.movieTimescale > 0, track.mediaTimescale > 0
        else { return [] }
        // An edit of duration 0 extends to the end of the media, so the edit list limits nothing.
        if track.edits.contains(where: { $0.duration == 0 && $0.mediaTime >= 0 }) { return [] }
        return track.edits.map { edit in
            TrackEdit(
                mediaStart: edit.mediaTime < 0
                    ? nil : MediaTime(Int128(edit.mediaTime), Int128(track.mediaTimescale)),
                duration: MediaTime(Int128(edit.duration), Int128(movie.movieTimescale)))
        }
    }

    /// Returns the total duration of the empty edits before the first edit with media; nil if it is 0.
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
        // The end of an edit list limits the estimate of the last packet's duration.
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
                // Matroska declares the duration of the file only, which libavformat reports for every track.
                // Statistics tags contain the duration of each track.
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
            // libavformat rounds an edit's media to whole packets, and doesn't report the duration of the
            // last packet of some fragmented tracks. The edit list determines the presented end.
            end = measured == nil || isFragmented ? editEnd : min(end, editEnd)
        }
        // The index may declare a duration of seconds for the last packet. Its audio lasts at most twice the frame
        // size, since SBR doubles the sample rate.
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

    /// Returns the track's duration from Matroska's statistics tags, such as `00:00:10.040000000`.
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
