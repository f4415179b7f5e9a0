internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of an output's timecode: the source's, offset by the start of the range to the output's first
/// frame, or the one that the job sets.
struct TimecodePlanner {
    let source: SourceDescription
    let output: OutputSpec
    let container: ContainerType
    /// The output's first video track.
    let track: TrackPlan?
    let start: MediaTime

    /// Returns the output's timecode; an empty string if the output has none, nil after an error.
    func decide() -> Decision<String> {
        var reasons = Reasons()
        let set = setting(&reasons)
        let kept = kept
        if let code = source.timecode {
            let isKept = set == nil && kept.code != nil
            reasons.account(
                for: .named("timecode \(code)"), of: nil, isKept ? .copied : .dropped,
                set == nil ? kept.reason : "set by the job")
        }
        let written = set ?? kept.code
        for track in source.tracks where track.isTimecode {
            if written != nil {
                reasons.account(for: .timecodeTrack, of: track.index, .copied, "rewritten")
            } else {
                reasons.account(
                    for: .track(track), of: track.index, .dropped, "no rule selects it")
            }
        }
        return Decision(reasons.hasErrors ? nil : written ?? "", reasons)
    }

    /// Returns the timecode that the job or its video rule sets. An invalid timecode, or one that the container can't
    /// hold, is an error.
    private func setting(_ reasons: inout Reasons) -> String? {
        let rules = output.tracks.filter { $0.mediaType == .video }.flatMap(\.metadata)
        guard
            let (key, value) = (rules + (output.media?.metadata.set ?? [])).first(where: {
                MetadataEntry.isTimecode($0.key.value)
            })
        else { return nil }
        let rate: Rational? =
            if case .encode(let encoding)? = track?.action {
                encoding.video?.frameRate ?? track?.source.frameRate
            } else { track?.source.frameRate }
        guard container.model.hasTimecode, let rate else {
            reasons.error(
                .containerSetting,
                track == nil
                    ? "a timecode requires video, and the output has none"
                    : "\(container.name) can't store a timecode", at: key.range)
            return nil
        }
        guard Timecode(value, rate: rate) != nil else {
            reasons.error(
                .invalidValue,
                "`\(value)` is not a valid timecode at \(rate) frames/s; expected hh:mm:ss:ff, such as 01:00:00:00",
                at: key.range)
            return nil
        }
        return value
    }

    /// The source's timecode in the output, with the reason; nil if it is dropped.
    private var kept: (code: String?, reason: String) {
        guard let timecode = source.timecode else { return (nil, "the source has none") }
        guard (output.media ?? .defaults).metadata.keep.contains(MetadataEntry.timecodeKey) else {
            return (nil, "the job doesn't keep it")
        }
        guard let track, let rate = track.source.frameRate else {
            return (nil, "the output has no video")
        }
        guard container.model.hasTimecode else { return (nil, "\(container.name) can't store it") }
        if case .encode(let encoding) = track.action, let requested = encoding.video?.frameRate,
            requested != rate
        {
            return (nil, "the frame rate changes")
        }
        guard let code = Timecode(timecode, rate: rate) else {
            return (nil, "it is not a valid timecode at \(rate) frames/s")
        }
        // The timecode belongs to the first frame, which may be presented later than 0.
        let passed = max(.zero, start - track.source.timeRange.start)
        let moved = code.advanced(by: passed.ticks(in: rate.inverted, rounding: .down))
        return (moved, moved == timecode ? "kept" : "moved with the range to \(moved)")
    }
}
