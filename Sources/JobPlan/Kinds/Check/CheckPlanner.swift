internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of a check: selects the tracks of the source that are read, and predicts their content.
struct CheckPlanner {
    let job: JobSpec
    let output: OutputSpec
    let spec: CheckSpec
    let input: ResolvedInput
    let prober: any SourceProber

    private var description: SourceDescription { input.description }

    /// Returns the plan of the check and the input that it reads; nil after an error.
    func decide() -> Decision<(input: InputPlan, output: OutputPlan)> {
        var reasons = Reasons()
        let extents = ExtentPlanner(
            job: job, output: output, source: input.source, description: description, prober: prober)
        let video = description.tracks(of: .video).first
        guard let extent = reasons.take(extents.decide(video: video, copied: nil)) else {
            return Decision(nil, reasons)
        }
        let tracks = tracks(extent, &reasons)
        if description.missingBytes > 0 {
            reasons.note("the source is truncated: \(description.missingBytes) bytes are missing")
        }
        guard !reasons.hasErrors else { return Decision(nil, reasons) }
        let timed = tracks.filter { $0.source.mediaType == .video || $0.source.mediaType == .audio }
        let duration = (timed.isEmpty ? tracks : timed).map(\.expected.timeRange.end).max() ?? .zero
        let plan = OutputPlan(
            location: job.id.range, container: description.container,
            kind: .check(CheckPlan(decodes: spec.decodes, location: spec.range)),
            destinationLocation: spec.range, tracks: tracks, expectations: output.expectations,
            expectedDuration: duration, notes: reasons.notes)
        return Decision((InputPlan(job: job, input, extent), plan), reasons)
    }

    /// Returns the tracks that are read: video and audio; for a whole file, also subtitles and data.
    private func tracks(_ extent: PlannedExtent, _ reasons: inout Reasons) -> [TrackPlan] {
        var types: [MediaType] = [.video, .audio]
        if extent.ranges.isEmpty, hasPackets { types += [.subtitle, .data] }
        let known = Set(types.flatMap { description.tracks(of: $0) }.map(\.index))
        var tracks: [TrackPlan] = []
        for track in description.tracks {
            guard known.contains(track.index) else {
                reasons.note("\(LedgerText.plainName(track)) (track \(track.index)) is not read")
                continue
            }
            let isDecoded = spec.decodes && (track.mediaType == .video || track.mediaType == .audio)
            if isDecoded, !isDecodable(track, &reasons) { continue }
            let action = TrackPlan.Action.read(decodes: isDecoded)
            let expected = ExpectationPlanner(track: track, action: action, container: nil).expectation(
                of: extent.ranges)
            guard extent.ranges.isEmpty || expected.timeRange.duration > .zero else {
                reasons.note(
                    "\(LedgerText.plainName(track)) (track \(track.index)) has no samples in the range")
                continue
            }
            tracks.append(
                TrackPlan(
                    source: track, mix: nil, composing: nil, action: action, expected: expected,
                    transform: nil,
                    location: spec.range, metadata: [], disposition: [], sideData: []))
        }
        if tracks.isEmpty, !reasons.hasErrors {
            reasons.error(
                .noSuchTrack, "the source has no tracks to check", at: job.rangeLocation ?? spec.range,
                notes: [Diagnostic.Note("the source is here", at: job.asset.range)])
        }
        return tracks
    }

    /// Whether the source is a file, whose packets can be read.
    private var hasPackets: Bool {
        switch input.source {
        case .file, .job: true
        case .pattern, .images, .composition: false
        }
    }

    private func isDecodable(_ track: TrackDescription, _ reasons: inout Reasons) -> Bool {
        if track.isDecodable { return true }
        reasons.error(
            .cannotDecode, track.missingDecoderText, at: spec.range,
            help: "`check: { decode: false }` reads packets without decoding them")
        return false
    }
}
