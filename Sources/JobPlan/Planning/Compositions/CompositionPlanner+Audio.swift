internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Audio items: audio in addition to that of the clips.
extension CompositionPlanner {
    /// Determines the time range of each audio item.
    mutating func positionAudioItems() {
        for index in spec.audio.indices where positionedAudio[index] == nil { _ = positionAudioItem(index) }
    }

    /// Determines the time range of an audio item, to which others may be anchored. Returns false for a circular
    /// anchor.
    mutating func positionAudioItem(_ index: Int) -> Bool {
        guard resolving.insert(index).inserted else { return false }
        defer { resolving.remove(index) }
        guard let placed = place(spec.audio[index]) else { return isRefused }
        positionedAudio[index] = placed
        if let id = spec.audio[index].id { ids[id.value] = placed.timeRange }
        return true
    }

    private mutating func place(_ item: CompositionSpec.AudioItem) -> PositionedAudio? {
        let end = composition.duration
        guard let start = item.at.map({ time(of: $0) }) ?? .some(.zero),
            let until = item.until.map({ time(of: $0) }) ?? .some(end)
        else { return nil }
        guard start >= .zero, start < end else {
            reasons.error(
                .invalidRange, "the audio begins at \(start) s, but the composition ends at \(end) s",
                at: item.at?.range ?? item.location)
            return nil
        }
        guard until > start, until <= end else {
            reasons.error(
                .invalidRange,
                until > end
                    ? "the audio ends at \(until) s, but the composition ends at \(end) s"
                    : "the audio ends at \(until) s, before it begins at \(start) s",
                at: item.until?.range ?? item.location)
            return nil
        }
        guard let found = find(item.asset, nil, Rational(25, 1)) else { return nil }
        guard let track = select(item.audio, of: .audio, in: found, for: "an audio item") else {
            reasons.error(
                .noSuchTrack, "no audio track of the source matches\(item.audio.alternatives)",
                at: item.asset.range)
            return nil
        }
        guard track.isDecodable else {
            reasons.error(
                .cannotDecode,
                "this build of FFmpeg has no decoder for audio track \(track.index) of the asset (\(track.codec))",
                at: item.asset.range)
            return nil
        }
        guard var range = range(item.range, of: found, nil) else { return nil }
        let room = until - start
        let length = item.loops ? room : min(range.duration, room)
        if !item.loops { range.duration = length }
        return PositionedAudio(
            found: found, track: track, range: range, timeRange: TimeRange(start: start, duration: length))
    }

    mutating func addAudioItems() {
        var indices: [String: Int] = [:]
        let first = composition.audio.count
        for (index, item) in spec.audio.enumerated() {
            guard let placed = positionedAudio[index] else { continue }
            setAudioFormat(like: placed.track)
            if let id = item.id { indices[id.value] = composition.audio.count }
            known.audioLocations.append(item.location)
            composition.audio.append(
                AudioClip(
                    placement: ClipPlacement(
                        source: sourceIndex(of: placed.found.source), track: placed.track.index,
                        sourceRange: placed.range, timeRange: placed.timeRange),
                    volume: volume(of: item, over: placed.timeRange), isRepeated: item.loops))
            recordUnused(placed.found, [placed.track.index], as: "audio \(index)", at: item.location) { _ in
                "an audio item uses one audio track"
            }
        }
        guard !isRefused else { return }
        for (index, item) in spec.audio.enumerated() {
            guard let duck = item.duck else { continue }
            guard let under = indices[duck.under.value] ?? clipAudio[duck.under.value] else {
                reasons.error(
                    .noSuchTrack, "`\(duck.under.value)` has no audio to duck under", at: duck.under.range)
                continue
            }
            composition.audio[first + index].ducking = Ducking(under: under, billionths: duck.billionths)
        }
    }

    private mutating func volume(of item: CompositionSpec.AudioItem, over range: TimeRange) -> VolumeEnvelope
    {
        var volume = envelope(item.volume, from: range.start)
        for fade in [item.fadeIn, item.fadeOut] {
            guard let fade, fade.value > range.duration else { continue }
            reasons.error(
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
