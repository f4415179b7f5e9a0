internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Resolves how some tracks of audio become one.
struct MixPlanner {
    let spec: MixSpec
    let tracks: [TrackDescription]
    let source: SourceDescription
    /// How long the output is, about: what volumes' times are of.
    let duration: MediaTime

    /// The mix and the track that it is like.
    func decide() -> Decision<(mix: AudioMix, sum: TrackDescription)> {
        var reasons = Reasons()
        guard var sum = tracks.first, let volumes = volumes(&reasons) else { return Decision(nil, reasons) }
        if tracks.count > 1 {
            reasons.note("\(tracks.count) tracks of audio become one, which can pass full scale")
        }
        // As rich as the richest, so that nothing is lost before `encode` says what is kept.
        let rate = tracks.map(\.sampleRate).max() ?? 0
        let layouts = tracks.map { ($0.channelLayout ?? .stereo).specified }
        let layout = layouts.max { $0.channels < $1.channels } ?? .stereo
        let start = tracks.map(\.timeRange.start).min() ?? .zero
        sum.timeRange = TimeRange(start: start, end: tracks.map(\.timeRange.end).max() ?? start)
        sum.isExact = tracks.allSatisfy(\.isExact)
        sum.hasOwnDuration = tracks.allSatisfy(\.hasOwnDuration)
        sum.isLossless = tracks.allSatisfy(\.isLossless)
        sum.sampleRate = rate
        sum.channelLayout = layout
        sum.sampleFormat = .planarFloat
        sum.sampleCount = nil
        let mix = AudioMix(
            inputs: tracks.map { AudioMix.Input(track: $0.index, volume: volumes[$0.index] ?? .full) },
            sampleRate: rate, layout: layout)
        return Decision((mix, sum), reasons)
    }

    /// The volumes that are written, by their tracks.
    private func volumes(_ reasons: inout Reasons) -> [Int: VolumeEnvelope]? {
        var volumes: [Int: VolumeEnvelope] = [:]
        var places: [Int: SourceRange] = [:]
        for input in spec.inputs {
            let place = input.selection.range
            let found = source.tracks(of: .audio, matching: input.selection.value)
            if found.isEmpty {
                reasons.error(.noSuchTrack, "no audio track matches", at: place)
                return nil
            }
            guard let envelope = envelope(input, &reasons) else { return nil }
            for track in found {
                guard tracks.contains(where: { $0.index == track.index }) else {
                    reasons.error(
                        .noSuchTrack,
                        "track \(track.index) is not mixed: the rule doesn't select it", at: place)
                    return nil
                }
                if let first = places[track.index] {
                    reasons.error(
                        .conflictingKeys, "the volume of track \(track.index) is said twice", at: place,
                        notes: [Diagnostic.Note("it is said here first", at: first)])
                    return nil
                }
                places[track.index] = place
                volumes[track.index] = envelope
            }
        }
        return volumes
    }

    private func envelope(_ input: MixSpec.Input, _ reasons: inout Reasons) -> VolumeEnvelope? {
        var points: [VolumeEnvelope.Point] = []
        for point in input.points {
            guard let written = point.at else {
                return VolumeEnvelope([VolumeEnvelope.Point(time: .zero, thousandths: point.thousandths)])
            }
            guard let time = OutputTime.resolve(written.value, duration: duration) else {
                reasons.error(
                    .invalidValue, "a point of a volume is at a time of the output: 1:30, 25% or -10s",
                    at: written.range)
                return nil
            }
            guard time >= .zero, time <= duration else {
                reasons.error(
                    .invalidRange, "the point is at \(time) s, but the output lasts \(duration) s",
                    at: written.range)
                return nil
            }
            if let last = points.last, time <= last.time {
                reasons.error(
                    .invalidRange,
                    "points of a volume follow one another; the one before is at \(last.time) s",
                    at: written.range)
                return nil
            }
            points.append(VolumeEnvelope.Point(time: time, thousandths: point.thousandths))
        }
        return VolumeEnvelope(points)
    }
}

extension AudioMix {
    /// Each track is mixed down by itself where the output has fewer channels: what leaves room for the many of one would
    /// make the others quieter. Filters were written for the sum as it is.
    func poorer(for action: TrackPlan.Action) -> AudioMix {
        guard case .encode(let encoding) = action, encoding.audio?.filters == nil,
            let layout = encoding.encoder.channelLayout?.specified, layout.channels < self.layout.channels
        else { return self }
        return AudioMix(inputs: inputs, sampleRate: sampleRate, layout: layout)
    }
}
