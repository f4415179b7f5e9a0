internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// A probed source of a clip, a layer or an audio item.
struct ResolvedSource {
    var source: CompositionSource
    var description: SourceDescription
    /// Whether the source is one image, shown for the requested duration.
    var isStill: Bool
    /// The output of another job, if it is the source; its description is then predicted.
    var awaited: JobOutput?
}

/// A composition while it is planned: what the planners of its parts read and add to. Errors are collected in `reasons`.
struct CompositionDraft {
    let spec: CompositionSpec
    let prober: any SourceProber
    /// Closure that resolves and probes an asset. `image` is the duration for which an image is shown.
    private let resolve: (AssetSpec, _ image: MediaTime?, _ rate: Rational) -> Decision<ResolvedSource>
    var reasons = Reasons()
    var composition = Composition()
    /// The composition's source map.
    var known: ComposedSource
    /// Time ranges of clips and audio items, by their `id`.
    var ids: [String: TimeRange] = [:]
    /// Index of a clip's audio in `composition.audio`, by the clip's `id`.
    var clipAudio: [String: Int] = [:]
    /// Index of each source in `composition.sources`.
    private var sourceIndices: [CompositionSource: Int] = [:]

    init(
        _ spec: CompositionSpec, prober: any SourceProber,
        resolve: @escaping (AssetSpec, _ image: MediaTime?, _ rate: Rational) -> Decision<ResolvedSource>
    ) {
        (self.spec, self.prober, self.resolve) = (spec, prober, resolve)
        known = ComposedSource(Composition(), spec: spec)
    }

    // MARK: Sources

    /// Resolves and probes an asset, and records its description and whether another job publishes it; nil after an
    /// error.
    mutating func find(_ asset: AssetSpec, _ image: MediaTime?, _ rate: Rational) -> ResolvedSource? {
        guard let found = reasons.take(resolve(asset, image, rate)) else { return nil }
        if case .file(let path) = found.source, known.descriptions[path.exact] == nil {
            known.descriptions[path.exact] = found.description
            if let awaited = found.awaited { known.awaited.append(awaited) }
        }
        return found
    }

    /// Returns the index of a source in the composition, and adds the source if it is new.
    mutating func sourceIndex(of source: CompositionSource) -> Int {
        if let known = sourceIndices[source] { return known }
        composition.sources.append(source)
        sourceIndices[source] = composition.sources.count - 1
        return composition.sources.count - 1
    }

    /// Returns the track that is used: the first that the choice includes, and by default the first of the type; nil if
    /// there is none. If the choice has alternatives, a note states the one that matches. `owner` is the part of the
    /// composition that uses the track.
    mutating func select(
        _ choice: CompositionSpec.TrackChoice, of type: MediaType, in found: ResolvedSource,
        for owner: String
    ) -> TrackDescription? {
        guard case .track(let selection) = choice else {
            return found.description.tracks(of: type, matching: .first).first
        }
        var selected = found.description.select(type, by: selection)
        selected.tracks = Array(selected.tracks.prefix(1))
        if let note = selected.note { reasons.note("\(owner): \(note)") }
        return selected.tracks.first
    }

    /// Adds an error at `location` if this build can't decode a track, and returns whether it can.
    mutating func checkDecoder(of track: TrackDescription, at location: SourceRange) -> Bool {
        if track.isDecodable { return true }
        reasons.error(.cannotDecode, track.missingDecoderText, at: location)
        return false
    }

    /// Returns the range of a source that is used: all of it if none is specified.
    mutating func range(_ written: RangeSpec?, of found: ResolvedSource, _ video: TrackDescription?)
        -> TimeRange?
    {
        guard let written else {
            return TimeRange(start: .zero, duration: found.description.duration)
        }
        var sink = DiagnosticSink()
        // For a file that another job has yet to publish, only the frame rate is known.
        let path: String? =
            if case .file(let path) = found.source, found.awaited == nil { path } else { nil }
        let range = RangeResolver(
            source: found.description, frames: FrameLocator(track: video, path: path, prober: prober)
        ).resolve(written, into: &sink)
        reasons.diagnostics.add(sink)
        return range
    }

    /// Returns a track after its crop and filters; nil after an error, if they don't fit the track.
    mutating func shape(_ track: TrackDescription, _ shaping: CompositionSpec.Shaping) -> ShapedTrack? {
        reasons.take(ShapedTrack.decide(track, shaping, prober: prober))
    }

    /// Records the tracks of a source that are not used. `reason` returns the reason in the job file; nil if it has
    /// none.
    mutating func recordUnused(
        _ found: ResolvedSource, _ taken: [Int?], as owner: String, at location: SourceRange,
        because reason: (TrackDescription) -> String?
    ) {
        let name = found.source.name.pathParts.last ?? found.source.name
        for track in found.description.tracks
        where !taken.contains(track.index) && !track.isAttachedPicture && !track.isTimecode {
            let explanation = reason(track)
            let isImages =
                track.mediaType == .subtitle && !SubtitleCodec.canConvert(from: track.codec)
            known.unused.append(
                ComposedSource.UnusedTrack(
                    owner: "\(owner), \(name)",
                    track: "track \(track.index) (\(LedgerText.plainName(track)))",
                    reason: explanation ?? (isImages ? "its subtitles are images" : "no key selects it"),
                    isUnstated: explanation == nil, location: location))
        }
    }

    // MARK: Time line

    /// Returns a time on the composition's time line; nil if the item that it is anchored to has no time range yet.
    func time(of anchor: CompositionSpec.Anchor) -> MediaTime? {
        switch anchor.base {
        case .start: anchor.offset
        case .end: composition.duration + anchor.offset
        case .item(let name, let isEnd):
            ids[name].map { (isEnd ? $0.end : $0.start) + anchor.offset }
        }
    }

    /// Returns the time range of an audio item or a layer, which `noun` names; nil after an error, at the location of either
    /// time.
    mutating func span(
        of noun: String, from start: MediaTime, at startLocation: SourceRange, until: MediaTime,
        at endLocation: SourceRange
    ) -> TimeRange? {
        let end = composition.duration
        guard start >= .zero, start < end else {
            reasons.error(
                .invalidRange, "the \(noun) begins at \(start) s, but the composition ends at \(end) s",
                at: startLocation)
            return nil
        }
        guard until > start, until <= end else {
            reasons.error(
                .invalidRange,
                until > end
                    ? "the \(noun) ends at \(until) s, but the composition ends at \(end) s"
                    : "the \(noun) ends at \(until) s, before it begins at \(start) s", at: endLocation)
            return nil
        }
        return TimeRange(start: start, end: until)
    }

    /// Converts a level of the job file to an envelope on the composition's time line.
    func envelope(_ level: CompositionSpec.Level?, from start: MediaTime) -> VolumeEnvelope {
        guard let level else { return .full }
        return VolumeEnvelope(
            level.points.map { VolumeEnvelope.Point(time: start + $0.at, billionths: $0.billionths) })
    }

    /// Sets the audio format if it isn't known: as the job file specifies, else as a track.
    mutating func setAudioFormat(like track: TrackDescription) {
        guard composition.audioFormat == nil else { return }
        composition.audioFormat = CompositionAudioFormat(
            sampleRate: spec.sampleRate?.value ?? max(8000, track.sampleRate),
            layout: spec.channels?.value.specified ?? (track.channelLayout ?? .stereo).specified)
    }
}
