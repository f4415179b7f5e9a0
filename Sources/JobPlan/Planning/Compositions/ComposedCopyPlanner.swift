internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of a copy of a composition's video or audio: packets of clips that fit together follow each other. With
/// `cut: smart`, frames at the edges of clips, in joins, under layers and in gaps are encoded.
struct ComposedCopyPlanner {
    /// The result for a track that the job copies.
    enum Result {
        /// Packets of the clips, with encoded frames between them.
        case clips(JoinedClips)
        /// Packets of the audio items.
        case audio(JoinedAudio)
        /// Packets of clips that are not published yet; the value is the predicted format of the output's track.
        case predicted(TrackDescription)
        /// The clips can't be copied; the job's fallback encodes them.
        case fallBack(TrackRule.Action, why: String)
    }

    /// The composition with its source map.
    let composed: ComposedSource
    let job: JobSpec
    let output: OutputSpec
    let container: Located<ContainerType>
    /// The ranges that are read, in order; empty for the whole composition.
    let ranges: [TimeRange]
    /// Location of `copy` in the job file.
    let location: SourceRange
    /// The fallback for clips that can't be copied.
    let otherwise: TrackRule.Action?
    let prober: any SourceProber

    var composition: Composition { composed.composition }
    var cut: CutMode { job.cut?.value ?? .exact }
    var edgeEncoder: EdgeEncoderPlanner {
        EdgeEncoderPlanner(
            otherwise: otherwise, container: container.value, timeZero: .zero, ranges: [], prober: prober)
    }

    /// Returns how the clips are copied or re-encoded; nil with errors if they can't be copied and the job has no
    /// fallback.
    func decide(_ track: TrackDescription) -> Decision<Result> {
        var own = DiagnosticSink()
        var reasons = Reasons()
        var result = copy(track, into: &own)
        if result == nil, let fallback = CopyFallback(otherwise, after: own, cut: cut) {
            result = .fallBack(fallback.action, why: fallback.why)
        }
        switch result {
        case .clips(let clips):
            for note in clips.notes { reasons.note(note) }
            let ignored = edgeEncoder.ignoredKeys
            if clips.cut.hasEdges, !ignored.isEmpty {
                reasons.note(
                    "re-encoded frames use the settings of the clips; ignored: \(ignored.joined(separator: ", "))"
                )
            }
        case .audio(let audio):
            for note in audio.notes.prefix(24) { reasons.note(note) }
            if !audio.isExact {
                reasons.note(
                    "\(track.label) is cut between packets: up to one packet is missing where a clip begins or ends"
                )
            }
        case .predicted:
            let jobs = Set(composed.awaited.map(\.job)).sorted().joined(separator: ", ")
            reasons.note("which parts of \(track.label) are copied is determined once \(jobs) has run")
        case .fallBack(_, let why): reasons.note("\(track.label) is re-encoded: \(why)")
        case nil: reasons.diagnostics.add(own)
        }
        return Decision(result, reasons)
    }

    private func copy(_ track: TrackDescription, into sink: inout DiagnosticSink) -> Result? {
        guard isWhole(into: &sink) else { return nil }
        // The packets of sources that other jobs have yet to publish are unknown; they are checked after publication.
        if !composed.awaited.isEmpty { return predicted(track, into: &sink) }
        guard track.mediaType == .video, let canvas = composition.canvas else {
            return joinedAudio(into: &sink)
        }
        return joinedClips(on: canvas, into: &sink)
    }

    /// Reports an error if only a range is requested, or if `cut: keyframe` would move clips.
    private func isWhole(into sink: inout DiagnosticSink) -> Bool {
        guard ranges.isEmpty else {
            sink.error(
                .copyRange, "a range of a composition can't be copied",
                at: job.rangeLocation ?? output.media?.durationLimit?.range ?? location,
                notes: [Diagnostic.Note("`copy` is here", at: location)],
                help: "set `range` on the clips, or use `encode`"
            )
            return false
        }
        guard cut != .keyframe else {
            sink.error(
                .copyRange,
                "`cut: keyframe` is not supported for compositions: it would lengthen clips and move the following ones",
                at: job.cut?.range ?? location, help: "use `cut: smart`, which re-encodes only the edges")
            return false
        }
        return true
    }

    /// Reports an error if the container can't store the codec.
    func holds(_ codec: String, of what: String, into sink: inout DiagnosticSink) -> Bool {
        if container.value.canHold(codec: codec) { return true }
        sink.error(
            .containerCodec, "\(container.value.name) can't store \(codec), the codec of \(what)",
            at: location,
            notes: [Diagnostic.Note("the container is determined here", at: container.range)],
            help: "use `encode`, or another container")
        return false
    }

    /// Returns the location of a clip in the job file.
    func location(ofClip clip: Int) -> SourceRange {
        composed.clipLocations.indices.contains(clip) ? composed.clipLocations[clip] : location
    }
}
