internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The conversion of a range in the job file to times of the source, with validation against the source's
/// duration.
struct RangeResolver {
    let source: SourceDescription
    /// Locator of frame numbers, which count frames of the first selected video track.
    var frames: FrameLocator

    /// Returns the range; nil after an error.
    func resolve(_ spec: RangeSpec, into sink: inout DiagnosticSink) -> TimeRange? {
        guard let start = spec.start.map({ time($0, into: &sink) }) ?? .some(.zero) else { return nil }
        var end = source.duration
        if let written = spec.end {
            guard let time = time(written, isEnd: true, into: &sink) else { return nil }
            end = time
        } else if let written = spec.duration {
            guard let time = duration(written, from: start, into: &sink) else { return nil }
            end = start + time
        }
        let endLocation = spec.end?.range ?? spec.duration?.range ?? spec.range
        let startLocation = spec.start?.range ?? spec.range
        if start >= source.duration {
            sink.error(
                .invalidRange, "the range begins at \(start) s, but the source ends at \(source.duration) s",
                at: startLocation)
            return nil
        }
        if end > source.duration {
            // A container's duration may be rounded; a range that ends at the rounded value is valid.
            guard end - source.duration <= slack else {
                sink.error(
                    .invalidRange, "the range ends at \(end) s, but the source ends at \(source.duration) s",
                    at: endLocation,
                    help: "use `end: end` for the end of the source")
                return nil
            }
            end = source.duration
        }
        guard end > start else {
            sink.error(
                .invalidRange, "the range is empty: it begins at \(start) s and ends at \(end) s",
                at: endLocation)
            return nil
        }
        return TimeRange(start: start, end: end)
    }

    /// Tolerance of the source's duration, by which a range may exceed it: 1 ms if it is exact, else 100 ms.
    var slack: MediaTime { MediaTime(value: source.isDurationExact ? 1 : 100, timescale: 1000) }

    /// Returns a duration; nil after an error, e.g. for a position (`end`, a chapter, a time before the end). A
    /// number of frames is the presentation duration of the frames from `start` on, or of the first frames of
    /// `ranges` joined end to end.
    func duration(
        _ written: Located<TimeExpression>, from start: MediaTime = .zero, ofAll ranges: [TimeRange] = [],
        into sink: inout DiagnosticSink
    ) -> MediaTime? {
        switch written.value {
        case .chapter, .end, .fromEnd:
            sink.error(
                .invalidValue,
                "`duration` can't be a position in the source (`end`, a chapter, or a time before the end); expected a duration such as 90.5 or 1:30",
                at: written.range)
            return nil
        case .frames(let count):
            guard count > 0 else { return .zero }
            let counted =
                ranges.isEmpty ? [TimeRange(start: start, end: max(start, source.duration))] : ranges
            // The first frame after the duration; none if the duration ends with the last frame.
            guard
                let found = frames.position(of: Located(count, at: written.range), in: counted, into: &sink)
            else { return nil }
            if let next = found.position { return next.start }
            // A limit may exceed the number of frames.
            guard found.count == count || !ranges.isEmpty else {
                sink.error(
                    .invalidRange,
                    "the range has \(count) frames, but only \(found.count) remain after \(start) s",
                    at: written.range)
                return nil
            }
            return ranges.isEmpty ? videoEnd - start : counted.reduce(.zero) { $0 + $1.duration }
        default: return time(written, into: &sink)
        }
    }

    /// End of the last frame.
    private var videoEnd: MediaTime {
        min(frames.track?.timeRange.end ?? source.duration, source.duration)
    }

    /// Returns a position in the source. As the end of a range, a frame number equal to the frame count is the end of
    /// the last frame.
    func time(
        _ written: Located<TimeExpression>, isEnd: Bool = false, into sink: inout DiagnosticSink
    ) -> MediaTime? {
        switch written.value {
        case .absolute(let time): return time
        case .end: return source.duration
        case .fromEnd(let time):
            guard time <= source.duration else {
                sink.error(
                    .invalidRange,
                    "\(time) s before the end is before the start: the source lasts \(source.duration) s",
                    at: written.range)
                return nil
            }
            return source.duration - time
        case .percent(let share):
            return source.duration.multiplied(by: share, dividedBy: 100_000)
        case .frames(let number):
            let number = Located(number, at: written.range)
            guard let found = frames.position(of: number, in: [], into: &sink) else { return nil }
            if let frame = found.position { return frame.start }
            if isEnd, found.count == number.value { return videoEnd }
            FrameLocator.reportMissing(number, of: found.count, in: [], into: &sink)
            return nil
        case .chapter(let number):
            guard number <= source.chapters.count else {
                let has =
                    source.chapters.isEmpty
                    ? "no chapters"
                    : "\(source.chapters.count) chapter\(source.chapters.count == 1 ? "" : "s")"
                sink.error(
                    .invalidRange, "chapter \(number) doesn't exist; the source has \(has)", at: written.range
                )
                return nil
            }
            return source.chapters[number - 1].timeRange.start
        }
    }
}
