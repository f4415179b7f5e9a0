internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The placement of a composition's audio items: audio in addition to that of the clips.
struct AudioItemPlanner {
    var draft: CompositionDraft
    /// Items whose time range is being determined, to detect circular anchors.
    private var resolving: Set<Int> = []
    /// Items whose time range is known, by index.
    private var positioned: [Int: PositionedAudio] = [:]

    /// An audio item with its source and time range.
    private struct PositionedAudio {
        var found: ResolvedSource
        var track: TrackDescription
        var range: TimeRange
        var timeRange: TimeRange
    }

    init(_ draft: CompositionDraft) { self.draft = draft }

    /// Determines the time range of each audio item.
    mutating func position() {
        for index in draft.spec.audio.indices where positioned[index] == nil { _ = position(index) }
    }

    /// Determines the time range of an audio item, to which others may be anchored. Returns false for a circular
    /// anchor.
    private mutating func position(_ index: Int) -> Bool {
        guard resolving.insert(index).inserted else { return false }
        defer { resolving.remove(index) }
        guard let placed = place(draft.spec.audio[index]) else { return draft.reasons.hasErrors }
        positioned[index] = placed
        if let id = draft.spec.audio[index].id { draft.ids[id.value] = placed.timeRange }
        return true
    }

    private mutating func place(_ item: CompositionSpec.AudioItem) -> PositionedAudio? {
        let end = draft.composition.duration
        guard let start = item.at.map({ time(of: $0) }) ?? .some(.zero),
            let until = item.until.map({ time(of: $0) }) ?? .some(end)
        else { return nil }
        guard
            let room = draft.span(
                of: "audio", from: start, at: item.at?.range ?? item.location, until: until,
                at: item.until?.range ?? item.location)
        else { return nil }
        guard let found = draft.find(item.asset, nil, Rational(25, 1)) else { return nil }
        guard let track = draft.select(item.audio, of: .audio, in: found, for: "an audio item") else {
            draft.reasons.error(
                .noSuchTrack, "no audio track of the source matches\(item.audio.alternatives)",
                at: item.asset.range)
            return nil
        }
        guard draft.checkDecoder(of: track, at: item.asset.range) else { return nil }
        guard var range = draft.range(item.range, of: found, nil) else { return nil }
        let length = item.loops ? room.duration : min(range.duration, room.duration)
        if !item.loops { range.duration = length }
        return PositionedAudio(
            found: found, track: track, range: range, timeRange: TimeRange(start: start, duration: length))
    }

    /// Returns a time on the composition's time line; nil for a circular anchor, which is reported.
    private mutating func time(of anchor: Located<CompositionSpec.Anchor>) -> MediaTime? {
        if case .item(let name, _) = anchor.value.base, draft.ids[name] == nil {
            let item = draft.spec.audio.firstIndex { $0.id?.value == name }
            guard item.map({ position($0) }) ?? false else {
                if !draft.reasons.hasErrors {
                    draft.reasons.error(
                        .dependencyCycle,
                        "circular placement: the audio item is anchored to `\(name)`, which is anchored to this item",
                        at: anchor.range)
                }
                return nil
            }
        }
        return draft.time(of: anchor.value)
    }

    /// Adds the audio items, whose time ranges are known.
    mutating func add() {
        var indices: [String: Int] = [:]
        let first = draft.composition.audio.count
        for (index, item) in draft.spec.audio.enumerated() {
            guard let placed = positioned[index] else { continue }
            draft.setAudioFormat(like: placed.track)
            if let id = item.id { indices[id.value] = draft.composition.audio.count }
            draft.known.audioLocations.append(item.location)
            draft.composition.audio.append(
                AudioClip(
                    placement: ClipPlacement(
                        source: draft.sourceIndex(of: placed.found.source), track: placed.track.index,
                        sourceRange: placed.range, timeRange: placed.timeRange),
                    volume: volume(of: item, over: placed.timeRange), isRepeated: item.loops))
            draft.recordUnused(placed.found, [placed.track.index], as: "audio \(index)", at: item.location) {
                _ in
                "an audio item uses one audio track"
            }
        }
        guard !draft.reasons.hasErrors else { return }
        for (index, item) in draft.spec.audio.enumerated() {
            guard let duck = item.duck else { continue }
            guard let under = indices[duck.under.value] ?? draft.clipAudio[duck.under.value] else {
                draft.reasons.error(
                    .noSuchTrack, "`\(duck.under.value)` has no audio to duck under", at: duck.under.range)
                continue
            }
            draft.composition.audio[first + index].ducking = Ducking(
                under: under, billionths: duck.billionths)
        }
    }

    private mutating func volume(of item: CompositionSpec.AudioItem, over range: TimeRange) -> VolumeEnvelope
    {
        var volume = draft.envelope(item.volume, from: range.start)
        for fade in [item.fadeIn, item.fadeOut] {
            guard let fade, fade.value > range.duration else { continue }
            draft.reasons.error(
                .invalidRange,
                "the fade lasts \(fade.value) s, but the audio lasts \(range.duration) s",
                at: fade.range)
            return volume
        }
        if let fade = item.fadeIn { volume = volume.times(.rising(from: range.start, for: fade.value)) }
        if let fade = item.fadeOut {
            volume = volume.times(VolumeEnvelope.full.falling(until: range.end, for: fade.value))
        }
        return volume
    }
}

extension VolumeEnvelope {
    /// Returns the product of both envelopes, linear between the points of either.
    func times(_ other: VolumeEnvelope) -> VolumeEnvelope {
        if points.isEmpty { return other }
        if other.points.isEmpty { return self }
        let times = Set(points.map(\.time) + other.points.map(\.time)).sorted()
        return VolumeEnvelope(
            times.map {
                let factor = Int128(billionths(at: $0)) * Int128(other.billionths(at: $0)) / 1_000_000_000
                return Point(time: $0, billionths: Int64(clamping: factor))
            })
    }
}
