internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// The conversion of placed clips to the clips, audio, subtitles and chapters of a composition.
struct ClipPlanner {
    var draft: CompositionDraft
    /// Whether the speed of audio is changed precisely.
    let stretchesPrecisely: Bool

    mutating func add(_ placed: [PositionedClip]) {
        for (index, one) in placed.enumerated() { add(one, index, placed) }
    }

    /// Adds a clip's video, audio, subtitles and chapters.
    private mutating func add(_ one: PositionedClip, _ index: Int, _ placed: [PositionedClip]) {
        let source = draft.sourceIndex(of: one.found.source)
        func placement(_ track: TrackDescription) -> ClipPlacement {
            ClipPlacement(
                source: source, track: track.index, sourceRange: one.range, timeRange: one.timeRange)
        }
        if let video = one.video, let canvas = draft.composition.canvas {
            guard let shaped = draft.shape(video, one.clip.shaping) else { return }
            let settings = shaped.settings(on: canvas, fit: one.clip.fit?.value ?? .contain)
            draft.known.clipLocations.append(one.clip.location)
            draft.composition.clips.append(
                VideoClip(
                    placement: placement(video), settings: settings, join: one.join?.kind ?? .dissolve,
                    leadIn: one.clip.leadIn?.value ?? .automatic))
            noteLeadIn(of: one, video)
        }
        if let audio = one.audio {
            if one.clip.speed.map({ $0.value != 1000 }) ?? false, !stretchesPrecisely {
                draft.reasons.note(
                    "clip \(index): the filter `rubberband` is not available in this build of FFmpeg; `atempo` changes the speed and may displace or omit short sounds"
                )
            }
            var volume = draft.envelope(one.clip.volume, from: one.timeRange.start)
            if let overlap = one.join?.overlap.value {
                volume = volume.times(.rising(from: one.timeRange.start, for: overlap))
            }
            if placed.indices.contains(index + 1), let overlap = placed[index + 1].join?.overlap.value {
                volume = volume.times(
                    VolumeEnvelope.full.falling(until: one.timeRange.end, for: overlap))
            }
            draft.known.audioLocations.append(one.clip.location)
            if let id = one.clip.id { draft.clipAudio[id.value] = draft.composition.audio.count }
            draft.composition.audio.append(AudioClip(placement: placement(audio), volume: volume))
        }
        let cues = subtitles(of: one, index)
        draft.composition.carry(
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
        draft.reasons.note(
            "clip \(draft.composition.clips.count - 1) is black until its first frame, for \(late) s; `lead_in: hold` shows that frame instead"
        )
    }

    /// Adds the clip's own chapter, and records the tracks of its source that are not used.
    private mutating func account(for one: PositionedClip, _ index: Int, _ cues: [TrackDescription]) {
        let name = one.found.source.name.pathParts.last ?? one.found.source.name
        draft.known.clipChapters?.append(
            AssetChapter(
                timeRange: one.timeRange, title: one.clip.id?.value ?? name.nameParts.stem))
        draft.recordUnused(
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
                draft.known.unused.append(
                    ComposedSource.UnusedTrack(
                        owner: "clip \(index), \(name)",
                        track: "\(item) of track \(track.index) (\(LedgerText.plainName(track)))",
                        reason: "subtitles are converted to \(SubtitleTrack.codec.rawValue): \(reason)",
                        isUnstated: false, location: one.clip.location))
            }
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
            if let note = selected.note { draft.reasons.note("clip \(index): \(note)") }
            if chosen.isEmpty {
                draft.reasons.error(
                    .noSuchTrack, "no subtitle track of the asset matches\(selection.alternatives)",
                    at: selection.range)
            }
            if let other = chosen.first(where: { !isText($0) }) {
                draft.reasons.error(
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
            draft.composition.chapters.append(
                AssetChapter(
                    timeRange: TimeRange(start: moved(start), end: moved(end)), title: chapter.title))
        }
    }
}
