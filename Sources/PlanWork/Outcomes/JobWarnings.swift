internal import Diagnostics
package import JobPlan
internal import LibAV
internal import Media

/// The warnings about a finished output: those of its plan, and those that were not known at planning.
package struct JobWarnings {
    private let task: OutputTask
    private var plan: OutputPlan { task.output }
    private let findings: OutputFindings

    package init(task: OutputTask, findings: OutputFindings) {
        self.task = task
        self.findings = findings
    }

    package var lines: [String] {
        var lines = plan.warnings
        if let stop = findings.stop, let limit = plan.media?.sizeLimit {
            lines.append(
                "ends at \(stop) s of \(plan.expectedDuration) s, because of the `limit` of \(PlanText.bytes(limit))"
            )
        }
        if let line = sizeWarning { lines.append(line) }
        if let line = qualityWarning { lines.append(line) }
        lines += plan.tracks.compactMap(\.deviation)
        let tracks = zip(plan.tracks, findings.tracks)
        for what in [
            leadingFrameWarning, droppedSampleWarning, captionWarning, formatChangeWarning,
            interlacingWarning, chunkWarning,
        ] {
            lines += tracks.compactMap { track, report in what(track, report).map { prefixed($0, of: track) }
            }
        }
        lines += findings.losses
        for found in findings.loudness {
            guard plan.tracks.indices.contains(found.track), let line = loudnessWarning(found) else {
                continue
            }
            lines.append(prefixed(line, of: plan.tracks[found.track]))
        }
        if task.input.sourceDescription.missingBytes > 0 {
            lines.append(
                "the source is truncated: \(task.input.sourceDescription.missingBytes) bytes are missing")
        }
        return lines
            + tracks.compactMap { track, report in
                damageWarning(track, report).map { prefixed($0, of: track) }
            }
    }

    /// The warning about a file that is smaller than its target size by more than 3 %.
    private var sizeWarning: String? {
        guard let (target, track) = plan.targetSize, let last = findings.sizeAttempts.last,
            let encoding = plan.tracks[track].encoding
        else { return nil }
        var fit = SizeFit(target)
        for attempt in findings.sizeAttempts {
            fit.add(SizeFit.Attempt(bitRate: attempt.bitRate, size: attempt.size, video: attempt.size))
        }
        guard fit.isUnder else { return nil }
        let reached =
            "the file has \(PlanText.bytes(last.size)), \(last.size * 100 / max(1, target.bytes)) % of `target_size`"
        if fit.isSaturated {
            return
                "\(reached): a higher bit rate makes it no larger, since \(encoding.encoder.encoder) has reached its best quality (\(fit.text))"
        }
        if last.bitRate >= target.maximumRate {
            return
                "\(reached): the maximum bit rate of \(target.maximumRate / 1000) kb/s is reached (\(fit.text))"
        }
        return "\(reached) after \(counted(fit.attempts.count, "encode")) (\(fit.text))"
    }

    /// The warning about a file whose quality exceeds the target.
    private var qualityWarning: String? {
        guard let (target, _) = plan.targetQuality, let quality = findings.quality,
            let last = quality.encodes.last, last.value > target.value + target.within
        else { return nil }
        let reason =
            if last.crf * 1000 >= Double(target.highest) {
                "the maximum of `crf` is reached"
            } else if quality.encodes.count > 1 {
                "it was encoded \(quality.encodes.count) times"
            } else {
                "the encoder's next `crf` is not expected to be nearer"
            }
        return
            "the file has \(quality.metric.rawValue) \(target.metric.text(last.value)), more than `quality` of \(target.description): \(reason) (\(quality.text))"
    }

    /// Returns a warning if `normalize` didn't reach its target; nil if it did.
    private func loudnessWarning(_ found: OutputResult.Normalization) -> String? {
        guard found.before.isMeasured else {
            return "too short or too quiet to measure the loudness; `normalize` has no effect"
        }
        guard case .encode(let encoding) = plan.tracks[found.track].action, let target = encoding.loudness
        else { return nil }
        let tolerance = 0.2
        func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
        let measured = found.after
        var parts: [String] = []
        if abs(measured.integrated - target.integrated) > tolerance {
            parts.append(
                "\(tenths(measured.integrated)) LUFS instead of \(target.integrated)")
        }
        if measured.truePeak - target.truePeak > tolerance {
            parts.append(
                "a true peak of \(tenths(measured.truePeak)) dBTP instead of \(target.truePeak)"
            )
        }
        return parts.isEmpty
            ? nil : "`normalize` reaches \(parts.joined(separator: ", ")) with \(encoding.codec)"
    }

    private func prefixed(_ what: String, of track: TrackPlan) -> String {
        "\(track.sourceLabel): \(what)"
    }

    private func droppedSampleWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        guard report.droppedSamples > 0 else { return nil }
        return track.source.mediaType == .subtitle
            ? "\(counted(report.droppedSamples, "subtitle event")) dropped, because more are shown at once than mov_text supports"
            : "\(counted(report.droppedSamples, "frame")) dropped, because their times don't increase"
    }

    /// The warning about chunks that other parts of a batch should have encoded.
    private func chunkWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        // The findings of a cached output are those of its creation.
        guard let chunks = report.chunks, chunks.reused < chunks.all, !findings.isFromCache else {
            return nil
        }
        return
            "\(chunks.all - chunks.reused) of \(counted(chunks.all, "chunk")) encoded here, because no other part has encoded them"
    }

    private func leadingFrameWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        guard report.damage.leading > 0 else { return nil }
        let first = report.damage.leadingEnd.map { "; its first frame is at \($0) s" } ?? ""
        return
            "begins before its first keyframe: \(counted(report.damage.leading, "frame")) with missing references dropped\(first)"
    }

    private func captionWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        guard report.droppedCaptions > 0 else { return nil }
        return
            "the closed captions in \(counted(report.droppedCaptions, "frame")) are dropped: the encoder doesn't support them"
    }

    private func formatChangeWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        guard let time = report.formatChange else { return nil }
        let what =
            track.source.mediaType == .video
            ? "frame size or aspect ratio" : "sample rate or channel layout"
        return
            "the \(what) of the source changes at \(time) s of the output; all samples are converted to one format"
    }

    private func interlacingWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        report.interlacedFrom.map {
            "the source is progressive at first and interlaced from \($0) s of the output; deinterlacing begins there"
        }
    }

    /// Whether data are missing because of `on_damage: skip`, so that the output differs from that of an undamaged
    /// source.
    package var reportsDamage: Bool {
        zip(plan.tracks, findings.tracks).contains { damageWarning($0, $1) != nil }
    }

    /// Returns the amount of a track's data that is missing because of `on_damage: skip`; nil if nothing is missing.
    private func damageWarning(_ track: TrackPlan, _ report: TrackReport) -> String? {
        guard task.input.damagePolicy == .skip else { return nil }
        var parts: [String] = []
        if report.damage.skipped > 0 {
            let first = report.damage.first.map { ", the first at \($0) s" } ?? ""
            parts.append("\(report.damage.skipped) damaged packets or frames skipped\(first)")
        }
        if track.expected.isExact, let frames = track.expected.frames {
            let missing =
                frames - report.appendedSamples - report.droppedSamples + report.hiddenSamples
                - report.damage.leading
            if missing > report.damage.skipped {
                parts.append("\(counted(missing, "frame")) fewer than its index states")
            }
        }
        let expectedEnd = track.expected.timeRange.end
        if expectedEnd - report.end > MediaTime(value: 1, timescale: 10) {
            parts.append("it ends at \(report.end) s of \(expectedEnd) s")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
