internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of the mix of several audio tracks into one.
struct MixPlanner {
    /// The mix of a job file; nil for that of the library's API.
    let spec: MixSpec?
    let tracks: [TrackDescription]
    let source: SourceDescription
    /// Approximate duration of the output, to which the times of volume points relate.
    let duration: MediaTime
    /// The mix of the library's API, which contains all values; nil for that of a job file.
    var whole: AudioMix?

    /// Returns the mix and the description of the mixed track; nil after an error.
    func decide() -> Decision<(mix: AudioMix, sum: TrackDescription)> {
        var reasons = Reasons()
        guard var sum = tracks.first,
            let volumes = whole.map(volumes(of:)) ?? volumes(&reasons)
        else { return Decision(nil, reasons) }
        if tracks.count > 1 {
            reasons.note("\(tracks.count) audio tracks are mixed; the sum may clip")
        }
        // The highest sample rate and channel count of the inputs, so that only `encode` reduces them.
        let rate = whole?.sampleRate ?? tracks.map(\.sampleRate).max() ?? 0
        let layouts = tracks.map { ($0.channelLayout ?? .stereo).specified }
        let layout = whole?.layout ?? layouts.max { $0.channels < $1.channels } ?? .stereo
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

    private func volumes(of mix: AudioMix) -> [Int: VolumeEnvelope] {
        Dictionary(mix.inputs.map { ($0.track, $0.volume) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the volumes in the job file by track index; nil after an error.
    private func volumes(_ reasons: inout Reasons) -> [Int: VolumeEnvelope]? {
        var volumes: [Int: VolumeEnvelope] = [:]
        var locations: [Int: SourceRange] = [:]
        for input in spec?.inputs ?? [] {
            let location = input.selection.range
            let selected = source.select(.audio, by: input.selection)
            let found = selected.tracks
            if found.isEmpty {
                reasons.error(
                    .noSuchTrack, "no audio track matches\(input.selection.alternatives)", at: location)
                return nil
            }
            if let note = selected.note { reasons.note("`volume`: \(note)") }
            guard let envelope = envelope(input, &reasons) else { return nil }
            for track in found {
                guard tracks.contains(where: { $0.index == track.index }) else {
                    reasons.error(
                        .noSuchTrack,
                        "track \(track.index) is not mixed: the rule doesn't select it", at: location)
                    return nil
                }
                if let first = locations[track.index] {
                    reasons.error(
                        .conflictingKeys, "duplicate volume for track \(track.index)", at: location,
                        notes: [Diagnostic.Note("the first one is here", at: first)])
                    return nil
                }
                locations[track.index] = location
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
                    .invalidValue,
                    "frame numbers and chapters are not supported here; expected a time in the output, such as 1:30, 25% or -10s",
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
                    "volume points must be in order; the preceding one is at \(last.time) s",
                    at: written.range)
                return nil
            }
            points.append(VolumeEnvelope.Point(time: time, thousandths: point.thousandths))
        }
        return VolumeEnvelope(points)
    }
}

extension AudioMix {
    /// Returns a mix whose inputs are downmixed separately if the output has fewer channels. A downmix of the
    /// sum would attenuate all tracks for the channels of one. Filters apply to the sum, so with filters the
    /// mix is unchanged.
    func poorer(for action: TrackPlan.Action) -> AudioMix {
        guard case .encode(let encoding) = action, encoding.audio?.filters == nil,
            let layout = encoding.encoder.channelLayout?.specified, layout.channels < self.layout.channels
        else { return self }
        return AudioMix(inputs: inputs, sampleRate: sampleRate, layout: layout)
    }
}
