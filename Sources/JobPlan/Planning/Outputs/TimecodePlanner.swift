internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Moves the source's timecode with the range: it is that of the output's first frame.
struct TimecodePlanner {
    let source: SourceDescription
    let spec: MetadataSpec
    let container: ContainerType
    /// The output's first track of frames.
    let track: TrackPlan?
    let start: MediaTime
    /// What the job says it is.
    let setting: String?

    /// What comes of it.
    struct Answer {
        /// The output's.
        var written: String?
        /// What becomes of the source's.
        var outcome: LedgerEntry.Outcome
        /// Why.
        var reason: String
    }

    /// The timecode that the job or the frames' rule sets; one that can't be is an error.
    static func setting(
        in output: OutputSpec, of track: TrackPlan?, container: ContainerType, into sink: inout DiagnosticSink
    ) -> String? {
        let rules = output.tracks.filter { $0.mediaType == .video }.flatMap(\.metadata)
        guard
            let (key, value) = (rules + output.metadata.set).first(where: {
                $0.key.value.lowercased() == "timecode"
            })
        else { return nil }
        let rate: Rational? =
            if case .encode(let encoding)? = track?.action {
                encoding.video?.frameRate ?? track?.source.frameRate
            } else { track?.source.frameRate }
        guard container.hasTimecode, let rate else {
            sink.error(
                .containerSetting,
                track == nil
                    ? "a timecode counts frames, and the output has none"
                    : "\(container.name) can't hold a timecode", at: key.range)
            return nil
        }
        guard Timecode(value, rate: rate) != nil else {
            sink.error(
                .invalidValue,
                "`\(value)` is no timecode at \(rate) frames a second; one is written 01:00:00:00",
                at: key.range)
            return nil
        }
        return value
    }

    /// Nil where neither the source nor the job has one.
    var answer: Answer? {
        if let setting { return Answer(written: setting, outcome: .left, reason: "the job sets it") }
        guard let timecode = source.timecode else { return nil }
        guard spec.keep.contains("timecode") else { return left("the job doesn't keep it") }
        guard let track, let rate = track.source.frameRate else {
            return left("the output has no frames to count")
        }
        guard container.hasTimecode else { return left("\(container.name) can't hold it") }
        if case .encode(let encoding) = track.action, let wanted = encoding.video?.frameRate, wanted != rate {
            return left("the frame rate changes")
        }
        guard let code = Timecode(timecode, rate: rate) else {
            return left("there is no timecode at \(rate) frames a second")
        }
        // It counts from the first frame, which may come late.
        let passed = max(.zero, start - track.source.timeRange.start)
        let moved = code.advanced(by: passed.ticks(in: rate.inverted, rounding: .down))
        return Answer(
            written: moved, outcome: .copied,
            reason: moved == timecode ? "kept" : "moved with the range to \(moved)")
    }

    private func left(_ reason: String) -> Answer { Answer(written: nil, outcome: .left, reason: reason) }
}
