internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Copies of a composition's clips.
extension ComposedCopyPlanner {
    func joinedClips(on canvas: Canvas, into sink: inout DiagnosticSink) -> Result? {
        do throws(SourceProblem) {
            var clips = ComposedClips(composed, on: canvas)
            try clips.checkClips(through: prober)
            var sections = composition.sections {
                clips.obstacle($0) == nil ? clips.beginning(of: $0) : nil
            }
            guard let tick = clips.tick(sections) else {
                sink.error(
                    .copyRange, "the time bases of the clips have no usable common multiple",
                    at: location,
                    help: "use `encode`")
                return nil
            }
            let found = try clips.cuts(sections, tick: tick, through: prober)
            for index in sections.indices {
                guard case .clip(let clip) = sections[index].content, clips.incompatible[clip] != nil else {
                    continue
                }
                sections[index].content = .encoded(.clip(clip))
            }
            return planCopy(sections, clips, found, tick, canvas, into: &sink)
        } catch {
            sink.error(.sourceUnreadable, "a clip can't be probed: \(error)", at: location)
            return nil
        }
    }

    private func planCopy(
        _ sections: [CompositionSection], _ clips: ComposedClips, _ found: ComposedClips.CutParts,
        _ tick: Rational, _ canvas: Canvas, into sink: inout DiagnosticSink
    ) -> Result? {
        guard let reference = clips.reference, let first = found.cuts[reference.index] else {
            return refuse(nil, clips, into: &sink)
        }
        if cut != .smartOrExact, !clips.incompatible.isEmpty { return refuse(nil, clips, into: &sink) }
        do throws(SmartCut.Obstacle) {
            let encoder = try edges(first.encoder, of: reference, clips, tick)
            let cut = try SmartCut.composed(
                sections, tick: tick, unit: canvas.frameRate.inverted,
                delay: found.cuts.values.reduce(0) { max($0, $1.reorderDelay) }, encoder: encoder
            ) { found.parts[$0] }
            let track = reference.track
            if cut.generatedFrames > 0, track.isInterlaced || track.transform?.isIdentity == false {
                throw .edges(
                    "its frames are \(track.isInterlaced ? "interlaced" : "rotated"), the re-encoded frames between them would not be"
                )
            }
            if self.cut == .exact, cut.hasEdges {
                return refuse(sections, cut, clips, into: &sink)
            }
            if let obstacle = cut.obstacle(
                in: container.value, codec: track.codec, isInterlaced: track.isInterlaced)
            {
                throw obstacle
            }
            if cut.hasEdges, case .problem(let problem) = prober.verdict(on: .encoder(cut.encoder)) {
                throw .edges(problem)
            }
            guard holds(track.codec, of: "the clips", into: &sink) else { return nil }
            return .clips(
                JoinedClips(
                    cut: cut, like: track, duration: clips.composition.duration,
                    notes: notes(sections, cut, clips)))
        } catch {
            return refuse(error, clips, into: &sink)
        }
    }

    /// Returns the encoder of re-encoded sections: the one that `encode` configures, or the closest match to the
    /// clips.
    private func edges(
        _ nearest: EncoderConfiguration, of reference: ComposedClips.Reference, _ clips: ComposedClips,
        _ tick: Rational
    ) throws(SmartCut.Obstacle) -> EncoderConfiguration {
        guard let own = try edgeEncoder.decide(reference.track) else { return nearest }
        do throws(SourceProblem) {
            let possibilities = try clips.cut(
                of: reference.index, ranges: [], tick: tick, encoder: own, through: prober)
            if let obstacle = possibilities?.obstacle { throw SourceProblem(obstacle.description) }
            return possibilities?.smart?.encoder ?? nearest
        } catch {
            throw .edges(error.description)
        }
    }

    /// Reports for each clip the reason why it can't be copied, or returns the fallback of
    /// `cut: smart-or-exact`.
    private func refuse(
        _ obstacle: SmartCut.Obstacle?, _ clips: ComposedClips, into sink: inout DiagnosticSink
    ) -> Result? {
        let why = obstacle?.description ?? "the formats of the clips differ"
        if cut == .smartOrExact {
            let codec = clips.reference?.track.codec ?? "h264"
            guard let action = otherwise ?? TrackRule.Action.nearLossless(codec, at: location) else {
                sink.error(
                    .copyRange, "the clips can't be copied: \(why)", at: location,
                    help: "add `encode` for the clips that are re-encoded")
                return nil
            }
            return .fallBack(action, why: "the clips can't be copied: \(why)")
        }
        let help = "use `cut: smart-or-exact` to re-encode what can't be copied"
        let copied = [Diagnostic.Note("`copy` is here", at: location)]
        if let obstacle {
            sink.error(.copyRange, "the clips can't be copied: \(obstacle)", at: location, help: help)
        }
        for (clip, why) in clips.incompatible.sorted(by: { $0.key < $1.key }) where obstacle == nil {
            sink.error(
                .copyRange, "clip \(clip) can't be copied: \(why)", at: location(ofClip: clip), notes: copied,
                help: help)
        }
        if obstacle == nil, clips.incompatible.isEmpty {
            sink.error(.copyRange, "no clip of the composition has packets to copy", at: location, help: help)
        }
        return nil
    }

    /// Reports each section and each clip with frames that would have to be re-encoded, for `cut: exact`.
    private func refuse(
        _ sections: [CompositionSection], _ cut: SmartCut, _ clips: ComposedClips,
        into sink: inout DiagnosticSink
    ) -> Result? {
        let help = "use `cut: smart`, which re-encodes only these frames"
        let copied = [Diagnostic.Note("`copy` is here", at: location)]
        for section in sections {
            guard case .encoded(let reason) = section.content else { continue }
            sink.error(
                .copyRange,
                "frames from \(section.timeRange.start) s to \(section.timeRange.end) s can't be copied: \(words(of: reason, clips))",
                at: location(of: reason), notes: copied, help: help)
        }
        for part in cut.parts {
            guard let clip = part.clip, part.headFrames + part.tailFrames > 0 else { continue }
            sink.error(
                .copyRange,
                "clip \(clip) begins or ends within a GOP: \(part.headFrames + part.tailFrames) of its frames can't be copied",
                at: location(ofClip: clip), notes: copied, help: help)
        }
        return nil
    }

    private func location(of reason: CompositionSection.Reason) -> SourceRange {
        switch reason {
        case .gap: composed.spec?.range ?? location
        case .join(let clip), .clip(let clip), .late(let clip): location(ofClip: clip)
        case .layer(let index):
            composed.spec.flatMap { $0.layers.indices.contains(index) ? $0.layers[index].location : nil }
                ?? location
        }
    }

    // MARK: Notes

    private static let maxNotes = 24

    /// Returns notes about the sections that are re-encoded, with the reasons: at most `maxNotes`.
    private func notes(
        _ sections: [CompositionSection], _ cut: SmartCut, _ clips: ComposedClips
    ) -> [String] {
        var lines: [String] = []
        for section in sections {
            guard case .encoded(let reason) = section.content else { continue }
            lines.append(
                "re-encoded from \(PlanText.time(section.timeRange.start)) to \(PlanText.time(section.timeRange.end)): \(words(of: reason, clips))"
            )
        }
        for part in cut.parts {
            guard let clip = part.clip, part.headFrames + part.tailFrames > 0 else { continue }
            let begin = MediaTime(ticks: part.position ?? 0, timeBase: cut.tick)
            let end = begin + MediaTime(ticks: part.end - part.start, timeBase: cut.tick)
            if part.headFrames > 0 {
                lines.append(
                    "re-encoded from \(PlanText.time(begin)): \(part.headFrames) frames of clip \(clip) before its first keyframe"
                )
            }
            if part.tailFrames > 0 {
                lines.append(
                    "re-encoded until \(PlanText.time(end)): \(part.tailFrames) frames of clip \(clip) after its last complete GOP"
                )
            }
        }
        guard lines.count > Self.maxNotes else { return lines }
        return lines.prefix(Self.maxNotes) + ["and \(lines.count - Self.maxNotes) more"]
    }

    private func words(of reason: CompositionSection.Reason, _ clips: ComposedClips) -> String {
        switch reason {
        case .gap: "a gap"
        case .join(let clip): "join of clip \(clip) and the preceding one"
        case .layer(let index): "layer \(index)"
        case .late(let clip): "clip \(clip) has no frame at its start"
        case .clip(let clip): "clip \(clip): \(clips.obstacle(clip) ?? "it contains no complete GOP")"
        }
    }
}
