internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// A clip of the sequence with its source and time range.
struct PositionedClip {
    var clip: CompositionSpec.Clip
    var found: ResolvedSource
    var range: TimeRange
    var timeRange: TimeRange
    var join: CompositionSpec.Join?
    var video: TrackDescription?
    var audio: TrackDescription?
}

/// The placement of a composition's clips on its time line, one behind the other.
struct SequencePlanner {
    var draft: CompositionDraft

    /// Determines the time range of each clip; nil after an error.
    mutating func place() -> [PositionedClip]? {
        var placed: [PositionedClip] = []
        var join: CompositionSpec.Join?
        for item in draft.spec.sequence {
            switch item {
            case .gap(let length): draft.composition.duration = draft.composition.duration + length.value
            case .join(let written): join = written
            case .clip(let clip):
                guard let one = place(clip, at: placed.count, behind: placed.last, join) else {
                    join = nil
                    continue
                }
                join = nil
                placed.append(one)
                draft.composition.duration = one.timeRange.end
                if let id = clip.id { draft.ids[id.value] = one.timeRange }
            }
        }
        return draft.reasons.hasErrors ? nil : placed
    }

    private mutating func place(
        _ clip: CompositionSpec.Clip, at index: Int, behind last: PositionedClip?,
        _ join: CompositionSpec.Join?
    ) -> PositionedClip? {
        let rate = draft.spec.frameRate?.value ?? Rational(25, 1)
        guard let found = draft.find(clip.asset, clip.duration?.value, rate) else { return nil }
        if found.isStill, clip.duration == nil, case .file = clip.asset.source {
            draft.reasons.error(
                .missingKey, "an image requires `duration`",
                at: clip.asset.range,
                help: "for example `{ asset: …, duration: 3s }`")
            return nil
        }
        if let duration = clip.duration, !found.isStill {
            draft.reasons.error(
                .conflictingKeys, "`duration` is only supported for images",
                at: duration.range, help: "use `range: { duration: … }` for a part of a media file")
            return nil
        }
        let video = track(clip.video, of: .video, in: found, of: clip, index)
        let audio = track(clip.audio, of: .audio, in: found, of: clip, index)
        guard let range = draft.range(clip.range, of: found, video) else { return nil }
        guard range.duration > .zero else {
            draft.reasons.error(.invalidRange, "the clip is empty", at: clip.location)
            return nil
        }
        let factor = Int64(clip.speed?.value ?? 1000)
        let length = factor == 1000 ? range.duration : range.duration.multiplied(by: 1000, dividedBy: factor)
        var start = draft.composition.duration
        if let join {
            start = start - join.overlap.value
            let shortest = min(last?.timeRange.duration ?? .zero, length)
            guard join.overlap.value < shortest else {
                draft.reasons.error(
                    .invalidRange,
                    "the join lasts \(join.overlap.value) s, but the shorter of its clips lasts \(shortest) s",
                    at: join.overlap.range)
                return nil
            }
            let before = last?.join?.overlap.value ?? .zero
            guard before + join.overlap.value <= last?.timeRange.duration ?? .zero else {
                draft.reasons.error(
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
        let track = draft.select(choice, of: type, in: found, for: "clip \(index)")
        if track == nil, case .track(let selection) = choice {
            draft.reasons.error(
                .noSuchTrack, "no \(type.rawValue) track of the asset matches\(selection.alternatives)",
                at: selection.range, help: "by default the first one is used, if there is one")
        }
        if let track, !draft.checkDecoder(of: track, at: clip.location) { return nil }
        return track
    }
}
