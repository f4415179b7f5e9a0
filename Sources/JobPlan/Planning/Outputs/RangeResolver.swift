internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Turns a range as written into times of the source, and checks it against the source's length.
struct RangeResolver {
    let source: SourceDescription
    /// The first selected video track, for frames.
    let video: TrackDescription?

    /// Nil where the range is wrong; the sink says why.
    func resolve(_ spec: RangeSpec, into sink: inout DiagnosticSink) -> TimeRange? {
        guard let start = spec.start.map({ time($0, into: &sink) }) ?? .some(.zero) else { return nil }
        var end = source.duration
        if let written = spec.end {
            guard let time = time(written, into: &sink) else { return nil }
            end = time
        } else if let written = spec.duration {
            guard let time = duration(written, into: &sink) else { return nil }
            end = start + time
        }
        let endPlace = spec.end?.range ?? spec.duration?.range ?? spec.range
        let startPlace = spec.start?.range ?? spec.range
        if start >= source.duration {
            sink.error(
                .invalidRange, "the range begins at \(start) s, but the source ends at \(source.duration) s",
                at: startPlace)
            return nil
        }
        if end > source.duration {
            // A container's own figure may be rounded; a range that ends at it is no mistake.
            guard end - source.duration <= slack else {
                sink.error(
                    .invalidRange, "the range ends at \(end) s, but the source ends at \(source.duration) s",
                    at: endPlace,
                    help: "`end: end` means the source's end")
                return nil
            }
            end = source.duration
        }
        guard end > start else {
            sink.error(
                .invalidRange, "the range is empty: it begins at \(start) s and ends at \(end) s",
                at: endPlace)
            return nil
        }
        return TimeRange(start: start, end: end)
    }

    /// How far a header's duration may be off before a range past it is an error.
    var slack: MediaTime { MediaTime(value: source.isDurationExact ? 1 : 100, timescale: 1000) }

    /// A length as written: like a time, without what only a position can be.
    func duration(_ written: Located<TimeExpression>, into sink: inout DiagnosticSink) -> MediaTime? {
        switch written.value {
        case .chapter, .end, .fromEnd:
            sink.error(
                .invalidValue, "a duration is a length, not a position in the source", at: written.range)
            return nil
        default: return time(written, into: &sink)
        }
    }

    /// A place in the source as written.
    func time(_ written: Located<TimeExpression>, into sink: inout DiagnosticSink) -> MediaTime? {
        switch written.value {
        case .absolute(let time): return time
        case .end: return source.duration
        case .fromEnd(let time):
            guard time <= source.duration else {
                sink.error(
                    .invalidRange,
                    "\(time) s before the end lies before the beginning: the source lasts \(source.duration) s",
                    at: written.range)
                return nil
            }
            return source.duration - time
        case .percent(let share):
            return source.duration.multiplied(by: share, dividedBy: 100_000)
        case .frames(let count):
            guard let video, let rate = video.frameRate else {
                sink.error(
                    .invalidRange, "frames are counted on the first selected video track, and there is none",
                    at: written.range)
                return nil
            }
            return MediaTime(ticks: count, timeBase: rate.inverted)
        case .chapter(let number):
            guard number <= source.chapters.count else {
                let has = source.chapters.isEmpty ? "no chapters" : "\(source.chapters.count) chapters"
                sink.error(
                    .invalidRange, "there is no chapter \(number); the source has \(has)", at: written.range)
                return nil
            }
            return source.chapters[number - 1].timeRange.start
        }
    }
}
