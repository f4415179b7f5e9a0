internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The section of a source that an output reads.
struct PlannedExtent {
    /// A single range; nil for the whole source.
    var range: TimeRange?
    /// Several ranges, joined in this order.
    var joined: [TimeRange] = []
    /// The requested range, if `range` differs from it.
    var requested: TimeRange?
    /// The index of the track for which the range was widened. In the widened range it can be copied.
    var widenedTrack: Int?

    /// The ranges in order; empty for the whole source.
    var ranges: [TimeRange] { joined.isEmpty ? range.map { [$0] } ?? [] : joined }

    /// Returns the total duration that is read of a source.
    func span(of description: SourceDescription) -> MediaTime {
        ranges.isEmpty ? description.duration : ranges.reduce(.zero) { $0 + $1.duration }
    }
}

/// The planner of the section of a source that an output reads, from the job's ranges, its `cut`, and the
/// output's `limit`.
struct ExtentPlanner {
    let job: JobSpec
    let output: OutputSpec
    let source: InputPlan.Source
    let description: SourceDescription
    let prober: any SourceProber
    private var reasons = Reasons()
    private var extent = PlannedExtent()

    init(
        job: JobSpec, output: OutputSpec, source: InputPlan.Source, description: SourceDescription,
        prober: any SourceProber
    ) {
        self.job = job
        self.output = output
        self.source = source
        self.description = description
        self.prober = prober
    }

    private var range: TimeRange? {
        get { extent.range }
        set { extent.range = newValue }
    }
    private var joined: [TimeRange] {
        get { extent.joined }
        set { extent.joined = newValue }
    }
    private var ranges: [TimeRange] { extent.ranges }

    /// Resolves the ranges. Frame numbers count frames of `video`; `copied` is the first video track that is copied.
    consuming func decide(video: TrackDescription?, copied: TrackDescription?)
        -> Decision<PlannedExtent>
    {
        var resolver = resolver(video)
        let ends = job.ranges.flatMap { [$0.start, $0.end].compactMap(\.self) }
        guard resolver.frames.locate(ends, in: [], into: &reasons.diagnostics) else {
            return Decision(nil, reasons)
        }
        let requestedRanges = job.ranges.compactMap { resolver.resolve($0, into: &reasons.diagnostics) }
        if requestedRanges.count < job.ranges.count { return Decision(nil, reasons) }
        if requestedRanges.count > 1 { joined = requestedRanges } else { range = requestedRanges.first }
        limitDuration(video: video)
        widen(for: copied)
        if case .job(let id, _) = source, !ranges.isEmpty, let cut = job.cut?.value, cut != .exact {
            reasons.note("the cut is determined once the job \(id) has published its output")
        }
        return Decision(extent, reasons)
    }

    private func resolver(_ video: TrackDescription?) -> RangeResolver {
        RangeResolver(
            source: description, frames: FrameLocator(track: video, source: source, prober: prober))
    }

    /// Maximum duration of the output, from `limit`.
    private var lengthLimit: MediaTime?

    /// Shortens the range to the duration of `limit`.
    private mutating func limitDuration(video: TrackDescription?) {
        guard let limit = output.media?.durationLimit else { return }
        let whole = TimeRange(start: .zero, end: description.duration)
        guard
            let length = resolver(video).duration(
                limit, ofAll: ranges.isEmpty ? [whole] : ranges, into: &reasons.diagnostics)
        else { return }
        let start = range?.start ?? .zero
        let end = range?.end ?? description.duration
        guard length > .zero else {
            reasons.error(.invalidRange, "`duration` must be greater than 0", at: limit.range)
            return
        }
        lengthLimit = length
        if !joined.isEmpty {
            shortenJoined(to: length)
            return
        }
        if start + length < end {
            range = TimeRange(start: start, end: start + length)
            reasons.note("stops after \(length) s (`limit`)")
        }
    }

    /// Shortens the joined ranges to a total duration. A single remaining range becomes `range`.
    private mutating func shortenJoined(to length: MediaTime) {
        let kept = joined.prefix(lasting: length)
        guard kept != joined else { return }
        reasons.note("stops after \(length) s (`limit`)")
        if kept.count > 1 {
            joined = kept
        } else {
            joined = []
            range = kept.first
        }
    }

    /// For `cut: keyframe`, widens the ranges to positions at which the first copied video track can begin and end.
    private mutating func widen(for copied: TrackDescription?) {
        guard job.cut?.value == .keyframe, !ranges.isEmpty, case .file(let path, _) = source,
            let track = copied
        else { return }
        do {
            let widener = RangeWidener(
                track: track, path: path, end: description.duration,
                damagePolicy: job.onDamage?.value ?? .fail, prober: prober)
            let wide = try ranges.map { range throws(SourceProblem) in
                try widener.widened(range, limit: joined.isEmpty ? lengthLimit : nil)
            }
            if joined.isEmpty {
                guard let only = wide.first ?? nil else { return }
                if let limit = lengthLimit, only.duration > limit {
                    reasons.error(
                        .copyRange,
                        "no range of at most \(limit) s (`limit`) can be copied: keyframes are too far apart",
                        at: job.cut?.range ?? job.id.range)
                }
                extent.requested = range
                range = only
                extent.widenedTrack = track.index
                return
            }
            for (index, wide) in wide.enumerated() {
                guard let wide else { continue }
                reasons.note(
                    "range \(index + 1) (\(joined[index].start) s to \(joined[index].end) s) is widened to keyframes"
                )
                joined[index] = wide
            }
        } catch {
            reasons.error(.sourceUnreadable, "\(path): \(error)", at: job.cut?.range ?? job.id.range)
        }
    }
}
