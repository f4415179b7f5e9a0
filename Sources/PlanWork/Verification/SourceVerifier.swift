internal import JobPlan
internal import LibAV
internal import Media

/// The verification that a source contained as much as its index states. If it contained less, it is truncated or
/// damaged, and the job fails.
struct SourceVerifier {
    /// Policy for damaged data. With `skip`, missing data is reported as a warning instead.
    let damagePolicy: DamagePolicy
    /// Whether the source is the subject of a check. It must contain samples, and must end within half a second of the
    /// end that its header states. Otherwise tolerances are larger, since the output is also compared with the plan.
    var isCheck = false

    /// Returns the reason why a source track is incomplete; nil if it is complete.
    func problem(_ planned: TrackPlan, _ report: TrackReport) -> String? {
        let expected = planned.expected
        let source = planned.sourceLabel
        let isTimed = planned.source.mediaType == .video || planned.source.mediaType == .audio
        if isCheck, isTimed, report.appendedSamples == 0 {
            return "\(source) is truncated or empty: it contains no samples in the range that is checked"
        }
        if planned.action.isDecoded, planned.source.mediaType == .video,
            report.droppedSamples > max(1, report.appendedSamples / 1000), damagePolicy == .fail
        {
            return
                "\(source): the times of \(report.droppedSamples) of \(report.appendedSamples + report.droppedSamples) frames don't increase: its timestamps are wrong or damaged (use `on_damage: skip` to drop such frames)"
        }
        if expected.isExact {
            if damagePolicy == .skip { return nil }
            if let frames = expected.frames,
                frames != report.appendedSamples + report.droppedSamples - report.hiddenSamples
                    + report.damage.leading
            {
                return
                    "\(source) is truncated or damaged: it contains \(report.appendedSamples) frames, its index states \(frames)"
            }
            if let rate = planned.action.sampleRate(of: planned.source), let samples = expected.samples {
                // Audio that starts after the output's start is preceded by silence if the container can't represent
                // the gap. If a range starts in a gap, the source's timestamps state where the audio starts; only a
                // damaged source lacks its end.
                let given = Int64(report.appendedSamples + report.filledSamples)
                let unit = Rational(1, max(1, rate))
                let reached = max(given, (report.end - expected.timeRange.start).ticks(in: unit))
                // A decoder may discard its first packet, and media may end up to a packet before the edit list does.
                if reached < samples - Int64(rate) / 10 {
                    return
                        "\(source) is truncated or damaged: it contains \(given) samples, its index states \(samples)"
                }
            }
            return nil
        }
        guard planned.source.hasOwnDuration else { return nil }
        let declaredEnd = expected.timeRange.end
        let tolerance =
            isCheck
            ? MediaTime(value: 1, timescale: 2)
            : max(MediaTime(value: 1, timescale: 1), declaredEnd.multiplied(by: 1, dividedBy: 20))
        if declaredEnd - report.end > tolerance, damagePolicy == .fail {
            return
                "\(source) is truncated or damaged: it ends at \(report.end) s, its header states \(declaredEnd) s (if only the header is wrong, use `timing: precise`)"
        }
        if report.end - declaredEnd > tolerance {
            return
                "\(source) ends at \(report.end) s, its header states \(declaredEnd) s: its timestamps are damaged"
        }
        return nil
    }
}
