internal import LibAV
internal import Media

/// The prediction of the frame count, sample count and time range of an output's track.
struct ExpectationPlanner {
    let track: TrackDescription
    let action: TrackPlan.Action
    /// The output's container; nil for a check, which has none.
    let container: ContainerType?

    /// Returns the prediction for some ranges, joined in order; for the whole track if there are none.
    func expectation(of ranges: [TimeRange]) -> TrackPlan.Expectation {
        guard ranges.count > 1 else { return expectation(of: ranges.first) }
        var whole = TrackPlan.Expectation(
            frames: nil, samples: nil, timeRange: TimeRange(start: .zero, duration: .zero), isExact: true)
        var offset = MediaTime.zero
        var start: MediaTime?
        var end = MediaTime.zero
        for range in ranges {
            let part = expectation(of: range)
            whole.isExact = whole.isExact && part.isExact
            if part.timeRange.duration > .zero {
                whole.frames = part.frames.map { $0 + (whole.frames ?? 0) } ?? whole.frames
                start = start ?? offset + part.timeRange.start
                end = offset + part.timeRange.end
            }
            offset = offset + range.duration
        }
        whole.timeRange = TimeRange(start: start ?? .zero, end: end)
        if case .smartCut(let cut) = action {
            (whole.frames, whole.isExact) = (cut.frameCount, true)
        }
        // A range without audio becomes silence.
        if track.mediaType == .audio, let sampleRate {
            whole.samples = whole.timeRange.duration.ticks(in: Rational(1, max(1, sampleRate)))
            // Each join may round by one sample.
            whole.isExact = false
        }
        return whole
    }

    /// Sample rate of audio that is decoded; nil for packets.
    private var sampleRate: Int32? { action.sampleRate(of: track) }

    private func expectation(of range: TimeRange?) -> TrackPlan.Expectation {
        let start = range?.start ?? .zero
        let end = min(range?.end ?? track.timeRange.end, max(track.timeRange.end, start))
        // The frame that is presented at the start of the range moves to 0; audio keeps its own start.
        let first = max(track.timeRange.start, start)
        var shown = TimeRange(start: first - start, end: max(end, first) - start)
        var isExact = track.isExact
        var frames: Int?
        var samples: Int64?
        if track.mediaType == .video {
            let counted = self.frames(shown, of: range)
            frames = counted.count
            isExact = isExact && counted.isExact
            if range != nil, !track.hasConstantFrameRate { isExact = false }
            // At a requested rate, the first frame is repeated from the start of the range on.
            if case .encode(let encoding) = action, encoding.video?.frameRate != nil, shown.duration > .zero {
                shown = TimeRange(start: .zero, end: shown.end)
            }
            if case .smartCut(let cut) = action {
                frames = cut.frameCount
                isExact = true
            }
        } else if track.mediaType == .audio, let sampleRate {
            if container?.model.hasTimestamps == false { shown = TimeRange(start: .zero, end: shown.end) }
            let source = Rational(1, max(1, track.sampleRate))
            let unit = Rational(1, max(1, sampleRate))
            let count = (shown.start + shown.duration).ticks(in: source) - shown.start.ticks(in: source)
            samples = source.rescale(count, to: unit)
        } else if range != nil {
            isExact = false
        }
        return TrackPlan.Expectation(frames: frames, samples: samples, timeRange: shown, isExact: isExact)
    }

    private func frames(_ shown: TimeRange, of range: TimeRange?) -> (count: Int?, isExact: Bool) {
        if case .encode(let encoding) = action, let rate = encoding.video?.frameRate {
            // The frame that is presented at the start is in the output, even if the range is shorter than a
            // frame.
            return (Int(clamping: max(1, shown.end.ticks(in: rate.inverted))), false)
        }
        if range == nil, let count = track.sampleCount { return (count, true) }
        guard let rate = track.frameRate else { return (nil, false) }
        let frame = rate.inverted
        if let range, track.hasConstantFrameRate {
            let first = range.start.ticks(in: frame, rounding: .down)
            let last = min(range.end, track.timeRange.end).ticks(in: frame, rounding: .up)
            return (Int(clamping: last - first), true)
        }
        return (Int(clamping: max(1, shown.duration.ticks(in: frame))), false)
    }
}
