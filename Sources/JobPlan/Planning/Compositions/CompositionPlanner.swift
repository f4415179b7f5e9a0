internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// The resolution of a composition against its sources: the time range of each clip, layer and audio item,
/// and the conversion of its frames and audio. Errors are collected in `reasons`, each at its source
/// location.
struct CompositionPlanner {
    let spec: CompositionSpec
    /// Closure that resolves and probes an asset; nil after an error. `image` is the duration for which an image is
    /// shown.
    private let resolve: (AssetSpec, _ image: MediaTime?, _ rate: Rational) -> ResolvedSource?
    let prober: any SourceProber
    /// Whether an output of the job has 4:4:4 or RGB frames, so that composing keeps full chroma.
    private let keepsFullChroma: Bool
    /// Fonts of text and subtitle layers.
    let fonts: FontFinder
    /// Whether the speed of audio is changed precisely.
    private let stretchesPrecisely: Bool
    var reasons = Reasons()
    /// Whether a source couldn't be resolved, which `resolve` has reported.
    private var lacksSource = false
    /// Whether the composition is refused. Later steps would report consequences of the errors.
    var isRefused: Bool { reasons.hasErrors || lacksSource }
    var composition = Composition()
    /// The composition's source map.
    var known: ComposedSource
    /// Time ranges of clips and audio items, by their `id`.
    var ids: [String: TimeRange] = [:]
    /// Audio items whose time range is being determined, to detect circular anchors.
    var resolving: Set<Int> = []
    /// Audio items whose time range is known, by index.
    var positionedAudio: [Int: PositionedAudio] = [:]
    /// Index of a clip's audio in `composition.audio`, by the clip's `id`.
    var clipAudio: [String: Int] = [:]
    /// Index of each source in `composition.sources`.
    private var sourceIndices: [CompositionSource: Int] = [:]

    /// A probed source.
    struct ResolvedSource {
        var source: CompositionSource
        var description: SourceDescription
        /// Whether the source is one image, shown for the requested duration.
        var isStill: Bool
        /// The output of another job, if it is the source; its description is then predicted.
        var awaited: JobOutput?
    }

    /// An audio item with its source and time range.
    struct PositionedAudio {
        var found: ResolvedSource
        var track: TrackDescription
        var range: TimeRange
        var timeRange: TimeRange
    }

    /// A clip of the sequence with its source and time range.
    private struct PositionedClip {
        var clip: CompositionSpec.Clip
        var found: ResolvedSource
        var range: TimeRange
        var timeRange: TimeRange
        var join: CompositionSpec.Join?
        var video: TrackDescription?
        var audio: TrackDescription?
    }

    init(
        _ spec: CompositionSpec, prober: any SourceProber, keepsFullChroma: Bool = false,
        fonts: FontFinder, stretchesPrecisely: Bool = TempoStretcher.isPrecise,
        resolve: @escaping (AssetSpec, _ image: MediaTime?, _ rate: Rational) -> ResolvedSource?
    ) {
        self.spec = spec
        known = ComposedSource(Composition(), spec: spec)
        self.prober = prober
        self.keepsFullChroma = keepsFullChroma
        self.fonts = fonts
        self.stretchesPrecisely = stretchesPrecisely
        self.resolve = resolve
    }

    /// Resolves and probes an asset, and records its description and whether another job publishes it.
    mutating func find(_ asset: AssetSpec, _ image: MediaTime?, _ rate: Rational) -> ResolvedSource? {
        guard let found = resolve(asset, image, rate) else {
            lacksSource = true
            return nil
        }
        if case .file(let path) = found.source, known.descriptions[path.exact] == nil {
            known.descriptions[path.exact] = found.description
            if let awaited = found.awaited { known.awaited.append(awaited) }
        }
        return found
    }

    /// Returns the composition with its source map; nil if there are errors.
    consuming func decide() -> Decision<ComposedSource> {
        guard let placed = place() else { return Decision(nil, reasons) }
        chooseFormat(placed)
        for (index, one) in placed.enumerated() { add(one, index, placed) }
        positionAudioItems()
        guard !isRefused else { return Decision(nil, reasons) }
        addLayers()
        addAudioItems()
        guard !isRefused else { return Decision(nil, reasons) }
        if composition.canvas == nil, composition.audioFormat == nil {
            reasons.error(.noSuchTrack, "the composition has neither video nor audio", at: spec.range)
        } else if !composition.isValid {
            reasons.error(
                .invalidValue,
                "the composition exceeds a limit on duration, size or speed",
                at: spec.range)
        }
        known.composition = composition
        return Decision(reasons.hasErrors ? nil : known, reasons)
    }

    /// Returns the index of a source in the composition, and adds the source if it is new.
    mutating func sourceIndex(of source: CompositionSource) -> Int {
        if let known = sourceIndices[source] { return known }
        composition.sources.append(source)
        sourceIndices[source] = composition.sources.count - 1
        return composition.sources.count - 1
    }

    // MARK: Sequence

    /// Determines the time range of each clip; nil after an error.
    private mutating func place() -> [PositionedClip]? {
        var placed: [PositionedClip] = []
        var join: CompositionSpec.Join?
        for item in spec.sequence {
            switch item {
            case .gap(let length): composition.duration = composition.duration + length.value
            case .join(let written): join = written
            case .clip(let clip):
                guard let one = place(clip, at: placed.count, behind: placed.last, join) else {
                    join = nil
                    continue
                }
                join = nil
                placed.append(one)
                composition.duration = one.timeRange.end
                if let id = clip.id { ids[id.value] = one.timeRange }
            }
        }
        return isRefused ? nil : placed
    }

    private mutating func place(
        _ clip: CompositionSpec.Clip, at index: Int, behind last: PositionedClip?,
        _ join: CompositionSpec.Join?
    ) -> PositionedClip? {
        let rate = spec.frameRate?.value ?? Rational(25, 1)
        guard let found = find(clip.asset, clip.duration?.value, rate) else { return nil }
        if found.isStill, clip.duration == nil, case .file = clip.asset.source {
            reasons.error(
                .missingKey, "an image requires `duration`",
                at: clip.asset.range,
                help: "for example `{ asset: …, duration: 3s }`")
            return nil
        }
        if let duration = clip.duration, !found.isStill {
            reasons.error(
                .conflictingKeys, "`duration` is only supported for images",
                at: duration.range, help: "use `range: { duration: … }` for a part of a media file")
            return nil
        }
        let video = track(clip.video, of: .video, in: found, of: clip, index)
        let audio = track(clip.audio, of: .audio, in: found, of: clip, index)
        guard let range = range(clip.range, of: found, video) else { return nil }
        guard range.duration > .zero else {
            reasons.error(.invalidRange, "the clip is empty", at: clip.location)
            return nil
        }
        let factor = Int64(clip.speed?.value ?? 1000)
        let length = factor == 1000 ? range.duration : range.duration.multiplied(by: 1000, dividedBy: factor)
        var start = composition.duration
        if let join {
            start = start - join.overlap.value
            let shortest = min(last?.timeRange.duration ?? .zero, length)
            guard join.overlap.value < shortest else {
                reasons.error(
                    .invalidRange,
                    "the join lasts \(join.overlap.value) s, but the shorter of its clips lasts \(shortest) s",
                    at: join.overlap.range)
                return nil
            }
            let before = last?.join?.overlap.value ?? .zero
            guard before + join.overlap.value <= last?.timeRange.duration ?? .zero else {
                reasons.error(
                    .invalidRange,
                    "the joins at the start and the end of the preceding clip overlap: together they last \(before + join.overlap.value) s, but the clip lasts \(last?.timeRange.duration ?? .zero) s",
                    at: join.overlap.range)
                return nil
            }
        }
        return PositionedClip(
            clip: clip, found: found, range: range, timeRange: TimeRange(start: start, duration: length),
            join: join, video: video, audio: audio)
    }

    /// Returns the selected track. Nil for `none`, and if no track matches; a missing track that the job file selects
    /// explicitly is an error.
    private mutating func track(
        _ choice: CompositionSpec.TrackChoice, of type: MediaType, in found: ResolvedSource,
        of clip: CompositionSpec.Clip, _ index: Int
    ) -> TrackDescription? {
        if case .none = choice { return nil }
        let track = select(choice, of: type, in: found, for: "clip \(index)")
        if track == nil, case .track(let selection) = choice {
            reasons.error(
                .noSuchTrack, "no \(type.rawValue) track of the asset matches\(selection.alternatives)",
                at: selection.range, help: "by default the first one is used, if there is one")
        }
        if let track, !track.isDecodable {
            reasons.error(
                .cannotDecode,
                "this build of FFmpeg has no decoder for \(type.rawValue) track \(track.index) of the asset (\(track.codec))",
                at: clip.location)
            return nil
        }
        return track
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

    // MARK: Format

    /// Sets the canvas and the audio format: as the job file specifies, else as in the first clip with video or
    /// audio.
    private mutating func chooseFormat(_ placed: [PositionedClip]) {
        if let first = placed.first(where: { $0.video != nil }), let video = first.video {
            composition.canvas = canvas(like: shape(video, first.clip.shaping)?.track ?? video)
            if spec.frameRate == nil { setRate(to: first, video) }
        } else if let size = spec.size?.value {
            composition.canvas = Canvas(size: size, frameRate: spec.frameRate?.value ?? Rational(25, 1))
        }
        if keepsFullChroma { keepFullChroma() }
        if let audio = placed.lazy.compactMap(\.audio).first {
            setAudioFormat(like: audio)
        }
    }

    /// Selects 4:4:4 for composed frames where possible. libavfilter's `overlay` doesn't support 4:4:4 with
    /// more than 8 bits.
    private mutating func keepFullChroma() {
        if composition.canvas?.pixelFormat == .yuv420p {
            composition.canvas?.pixelFormat = .yuv444p
        } else if composition.canvas != nil {
            reasons.note(
                "compositions of more than 8 bits use 4:2:0 chroma, regardless of the output's pixel format")
        }
    }

    /// Sets the rate of a composition without `frame_rate`: one at which every frame of the first clip is
    /// shown, determined from its packets. Generated sources, and files that another job has yet to publish,
    /// have the rate of their description.
    private mutating func setRate(to first: PositionedClip, _ video: TrackDescription) {
        guard case .file(let path) = first.found.source, first.found.awaited == nil else { return }
        let cadence: FrameCadence?
        do throws(SourceProblem) {
            cadence = try prober.cadence(video.index, of: path, in: first.range)
        } catch {
            reasons.error(
                .sourceUnreadable, "\(path.pathParts.last ?? path): \(error)", at: first.clip.location)
            return
        }
        guard let cadence else { return }
        composition.canvas?.frameRate = cadence.frameRate
        guard !cadence.isConstant else { return }
        let omitted =
            cadence.omittedFrames > 0
            ? "\(cadence.omittedFrames) of its frames are dropped" : "none of its frames is dropped"
        reasons.diagnostics.warning(
            .variableRate,
            "the first clip has a variable frame rate; the composition uses \(cadence.frameRate) frames/s: \(omitted)",
            at: first.clip.location, help: "`frame_rate` sets another rate")
    }

    private func canvas(like track: TrackDescription) -> Canvas {
        var canvas = Canvas(like: track)
        if let size = spec.size?.value { canvas.size = size }
        if let rate = spec.frameRate?.value { canvas.frameRate = rate }
        return canvas
    }

    mutating func setAudioFormat(like track: TrackDescription) {
        guard composition.audioFormat == nil else { return }
        composition.audioFormat = CompositionAudioFormat(
            sampleRate: spec.sampleRate?.value ?? max(8000, track.sampleRate),
            layout: spec.channels?.value.specified ?? (track.channelLayout ?? .stereo).specified)
    }

    // MARK: Clips

    private mutating func add(_ one: PositionedClip, _ index: Int, _ placed: [PositionedClip]) {
        let source = sourceIndex(of: one.found.source)
        func placement(_ track: TrackDescription) -> ClipPlacement {
            ClipPlacement(
                source: source, track: track.index, sourceRange: one.range, timeRange: one.timeRange)
        }
        if let video = one.video, let canvas = composition.canvas {
            guard let shaped = shape(video, one.clip.shaping) else { return }
            let settings = shaped.settings(on: canvas, fit: one.clip.fit?.value ?? .contain)
            known.clipLocations.append(one.clip.location)
            composition.clips.append(
                VideoClip(
                    placement: placement(video), settings: settings, join: one.join?.kind ?? .dissolve,
                    leadIn: one.clip.leadIn?.value ?? .automatic))
            noteLeadIn(of: one, video)
        }
        if let audio = one.audio {
            if one.clip.speed.map({ $0.value != 1000 }) ?? false, !stretchesPrecisely {
                reasons.note(
                    "clip \(index): the filter `rubberband` is not available in this build of FFmpeg; `atempo` changes the speed and may displace or omit short sounds"
                )
            }
            var volume = envelope(one.clip.volume, from: one.timeRange.start)
            if let overlap = one.join?.overlap.value {
                volume = volume.times(.rising(from: one.timeRange.start, for: overlap))
            }
            if placed.indices.contains(index + 1), let overlap = placed[index + 1].join?.overlap.value {
                volume = volume.times(
                    VolumeEnvelope.full.falling(until: one.timeRange.end, for: overlap))
            }
            known.audioLocations.append(one.clip.location)
            if let id = one.clip.id { clipAudio[id.value] = composition.audio.count }
            composition.audio.append(AudioClip(placement: placement(audio), volume: volume))
        }
        let cues = subtitles(of: one, index)
        composition.carry(
            cues,
            of: ClipPlacement(
                source: source, track: 0, sourceRange: one.range, timeRange: one.timeRange),
            spelled: LanguageCode.canonical)
        chapters(of: one)
        account(for: one, index, cues)
        accountForStyles(cues, of: one, index)
    }

    /// Adds a note if a clip without `lead_in` is black before its first frame.
    private mutating func noteLeadIn(of one: PositionedClip, _ video: TrackDescription) {
        let late = video.timeRange.start - one.range.start
        guard one.clip.leadIn == nil, late < one.range.duration, !LeadIn.automatic.extendsFirstFrame(late)
        else { return }
        reasons.note(
            "clip \(composition.clips.count - 1) is black until its first frame, for \(late) s; `lead_in: hold` shows that frame instead"
        )
    }

    /// Adds the clip's own chapter, and records the tracks of its source that are not used.
    private mutating func account(for one: PositionedClip, _ index: Int, _ cues: [TrackDescription]) {
        let name = one.found.source.name.pathParts.last ?? one.found.source.name
        known.clipChapters?.append(
            AssetChapter(
                timeRange: one.timeRange, title: one.clip.id?.value ?? name.nameParts.stem))
        recordUnused(
            one.found, [one.video?.index, one.audio?.index] + cues.map(\.index), as: "clip \(index)",
            at: one.clip.location
        ) { track in
            let choice: CompositionSpec.TrackChoice? =
                switch track.mediaType {
                case .video: one.clip.video
                case .audio: one.clip.audio
                case .subtitle: one.clip.subtitle
                default: nil
                }
            if case .none? = choice { return "`\(track.mediaType.rawValue): none`" }
            return nil
        }
    }

    /// Records the subtitle styles that are lost in the codec of a composition's subtitles.
    private mutating func accountForStyles(_ cues: [TrackDescription], of one: PositionedClip, _ index: Int) {
        let name = one.found.source.name.pathParts.last ?? one.found.source.name
        for track in cues {
            for (item, reason) in SubtitleLosses.of(track.codec, as: SubtitleTrack.codec) {
                known.unused.append(
                    ComposedSource.UnusedTrack(
                        owner: "clip \(index), \(name)",
                        track: "\(item) of track \(track.index) (\(LedgerText.plainName(track)))",
                        reason: "subtitles are converted to \(SubtitleTrack.codec.rawValue): \(reason)",
                        isUnstated: false, location: one.clip.location))
            }
        }
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

    /// Returns the text subtitle tracks that a clip keeps.
    private mutating func subtitles(of one: PositionedClip, _ index: Int) -> [TrackDescription] {
        let cues = one.found.description.tracks.filter { $0.mediaType == .subtitle }
        func isText(_ track: TrackDescription) -> Bool { SubtitleCodec.canConvert(from: track.codec) }
        switch one.clip.subtitle {
        case .none: return []
        case .automatic: return cues.filter(isText)
        case .track(let selection):
            let selected = one.found.description.select(.subtitle, by: selection)
            let chosen = selected.tracks
            if let note = selected.note { reasons.note("clip \(index): \(note)") }
            if chosen.isEmpty {
                reasons.error(
                    .noSuchTrack, "no subtitle track of the asset matches\(selection.alternatives)",
                    at: selection.range)
            }
            if let other = chosen.first(where: { !isText($0) }) {
                reasons.error(
                    .cannotDecode,
                    "subtitle track \(other.index) of the asset contains images (\(other.codec)), which can't be converted to text",
                    at: selection.range,
                    help: "use `subtitle: none`, or select other tracks")
            }
            return chosen.filter(isText)
        }
    }

    /// Adds the chapters of a clip's source, moved to the composition's time line.
    private mutating func chapters(of one: PositionedClip) {
        for chapter in one.found.description.chapters {
            let start = max(chapter.timeRange.start, one.range.start)
            let end = min(chapter.timeRange.end, one.range.end)
            guard start < end else { continue }
            func moved(_ time: MediaTime) -> MediaTime {
                ClipPlacement(source: 0, track: 0, sourceRange: one.range, timeRange: one.timeRange)
                    .time(ofSource: time)
            }
            composition.chapters.append(
                AssetChapter(
                    timeRange: TimeRange(start: moved(start), end: moved(end)), title: chapter.title))
        }
    }

    /// Converts a level of the job file to an envelope on the composition's time line.
    func envelope(_ level: CompositionSpec.Level?, from start: MediaTime) -> VolumeEnvelope {
        guard let level else { return .full }
        return VolumeEnvelope(
            level.points.map { VolumeEnvelope.Point(time: start + $0.at, billionths: $0.billionths) })
    }
}
