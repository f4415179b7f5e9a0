internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The check whether a job depends on the guessed duration of a source. If so, the source is measured, regardless of
/// its `timing`: copied frames can't be cut at a guessed time, times relative to the end require the exact end, and
/// neither a range nor a condition may be decided by a guess.
struct EstimatedLength {
    let source: SourceDescription
    let job: JobSpec
    let prober: any SourceProber

    private var frames: FrameLocator {
        FrameLocator(track: source.tracks(of: .video).first, path: nil, prober: prober)
    }

    var isRelevant: Bool {
        guard source.isDurationGuessed else { return false }
        let conditions = [job.when] + job.renditions.flatMap(\.tracks).map(\.when)
        return conditions.contains { $0?.usesDuration == true }
            || job.ranges.contains { countsFromEnd($0) || countsFrames($0) || reaches($0) }
            || job.renditions.contains { $0.kind.dependsOnEnd(at: source.duration, isOpen: isOpen) }
    }

    /// Returns whether a range uses frame numbers. The last frame may lie after the guessed end.
    private func countsFrames(_ range: RangeSpec) -> Bool {
        [range.start, range.end, range.duration].contains {
            if case .frames? = $0?.value { true } else { false }
        }
    }

    /// Returns whether a range reaches the guessed end. A re-encoded range with `end: end` continues to the
    /// actual end; a copied range ends at its planned end.
    private func reaches(_ range: RangeSpec) -> Bool {
        let cutsPackets = ![nil, .exact].contains(job.cut?.value)
        let resolver = RangeResolver(source: source, frames: frames)
        var sink = DiagnosticSink()
        let start = range.start.map { resolver.time($0, into: &sink) ?? .zero } ?? .zero
        guard start < source.duration else { return true }
        if let written = range.end {
            if case .end = written.value { return cutsPackets }
            guard let end = resolver.time(written, into: &sink) else { return true }
            return end > source.duration || cutsPackets && end == source.duration
        }
        guard let written = range.duration else { return cutsPackets }
        guard let length = resolver.duration(written, into: &sink) else { return false }
        return start + length > source.duration || cutsPackets && start + length == source.duration
    }

    private func countsFromEnd(_ range: RangeSpec) -> Bool {
        [range.start, range.end, range.duration].contains { $0?.value.countsFromEnd ?? false }
    }

    /// Whether the job reads the source to its end, not only to the end of a range.
    private var isOpen: Bool {
        job.ranges.isEmpty
            || job.ranges.contains { range in
                guard let end = range.end else { return range.duration == nil }
                if case .end = end.value { return true }
                return false
            }
    }
}

extension TimeExpression {
    /// Whether the time is relative to the end of the source.
    var countsFromEnd: Bool {
        switch self {
        case .fromEnd, .percent: true
        case .absolute, .end, .frames, .chapter: false
        }
    }
}
