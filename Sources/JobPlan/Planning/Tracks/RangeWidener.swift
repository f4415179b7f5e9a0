internal import JobSpec
internal import Media

/// The widening of ranges to positions at which a video track can be copied (`cut: keyframe`).
struct RangeWidener {
    let track: TrackDescription
    let path: String
    /// End of the source.
    let end: MediaTime
    let damagePolicy: DamagePolicy
    let prober: any SourceProber

    /// Widens a range to positions at which copied frames can begin and end, with an earlier end if it would exceed
    /// `limit`. Returns nil if no widening is needed.
    func widened(_ range: TimeRange, limit: MediaTime?) throws(SourceProblem) -> TimeRange? {
        var (requested, wide) = (range, try widened(range))
        // The widened range may exceed the limit again, by one or two frames.
        for _ in 0..<4 {
            guard let limit, let found = wide, found.duration > limit else { break }
            let until = requested.end - (found.duration - limit)
            guard until > found.start else { break }
            requested = TimeRange(start: found.start, end: until)
            wide = try widened(requested) ?? requested
        }
        return wide
    }

    private func widened(_ range: TimeRange) throws(SourceProblem) -> TimeRange? {
        guard let found = try prober.cut(track.index, of: path, range: range, damagePolicy: damagePolicy),
            found.problemWithoutLeading != nil
        else { return nil }
        return TimeRange(start: found.outwardStart ?? .zero, end: found.outwardEnd ?? max(end, range.end))
    }
}
