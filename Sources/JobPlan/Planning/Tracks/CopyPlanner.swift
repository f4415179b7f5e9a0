internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of a track's copy: whole, cut between packets, or with re-encoded edges. `ComposedCopyPlanner` plans the
/// copy of a composition's clips.
struct CopyPlanner {
    /// The result for a track that the job copies.
    enum Result {
        /// All packets, unchanged.
        case copy
        /// Packets with re-encoded edges of the ranges.
        case smartCut(SmartCut)
        /// The track can't be copied; the job's fallback encodes it.
        case fallBack(TrackRule.Action, why: String)
    }

    let job: JobSpec
    let output: OutputSpec
    let container: Located<ContainerType>
    let source: InputPlan.Source
    let prober: any SourceProber
    let description: SourceDescription
    /// The ranges that are read, in order; empty for the whole source.
    let ranges: [TimeRange]
    /// Location of `copy` in the job file.
    let location: SourceRange
    /// The fallback for a track that can't be copied.
    let otherwise: TrackRule.Action?
    /// The index of the track for which the range was widened. In the widened range it can be copied.
    let widenedTrack: Int?

    var cut: CutMode { job.cut?.value ?? .exact }
    var rangeLocation: SourceRange { job.rangeLocation ?? location }
    var edgeEncoder: EdgeEncoderPlanner {
        EdgeEncoderPlanner(
            otherwise: otherwise, container: container.value, timeZero: description.timeZero, ranges: ranges,
            prober: prober)
    }

    /// Returns how the track is copied or re-encoded; nil with errors if it can't be copied and the job has no
    /// fallback.
    func decide(_ track: TrackDescription) -> Decision<Result> {
        var own = DiagnosticSink()
        var reasons = Reasons()
        let result = copy(track, into: &own)
        switch result {
        case .copy:
            if keepsWholePackets(of: track) {
                reasons.note(
                    "\(track.label) is cut between packets: up to one packet is missing at each end of a range"
                )
            }
            CopyLosses(track: track, container: container.value).account(in: &reasons)
            return Decision(result, reasons)
        case .smartCut(let cut):
            let ignored = edgeEncoder.ignoredKeys
            if cut.hasEdges, !ignored.isEmpty {
                reasons.note(
                    "the re-encoded edges of \(track.label) use the settings of the source; ignored: \(ignored.joined(separator: ", "))"
                )
            }
            CopyLosses(track: track, container: container.value).accountForDisplay(in: &reasons)
            return Decision(result, reasons)
        case .fallBack(let action, let why): return fallBack(action, track, why)
        case nil: break
        }
        if let fallback = CopyFallback(otherwise, after: own, cut: cut) {
            return fallBack(fallback.action, track, fallback.why)
        }
        // Without presentation times no range can be copied; near-lossless encoding is the fallback.
        if cut == .smartOrExact, track.mediaType == .video, !ranges.isEmpty, !hasTimes(track),
            let action = TrackRule.Action.nearLossless(track.codec, at: location)
        {
            return fallBack(action, track, own.diagnostics.first?.message ?? "it can't be copied")
        }
        reasons.diagnostics.add(own)
        return Decision(nil, reasons)
    }

    private func fallBack(
        _ action: TrackRule.Action, _ track: TrackDescription, _ why: String
    ) -> Decision<Result> {
        var reasons = Reasons()
        reasons.note("\(track.label) is re-encoded: \(why)")
        return Decision(.fallBack(action, why: why), reasons)
    }

    /// Returns whether audio is cut at packet boundaries, because the output can't represent a finer cut.
    private func keepsWholePackets(of track: TrackDescription) -> Bool {
        track.mediaType == .audio && !ranges.isEmpty && !description.isCutAtSamples(track)
            && (ranges.count > 1 || !container.value.hasEditLists)
    }

    private func copy(_ track: TrackDescription, into sink: inout DiagnosticSink) -> Result? {
        let type = container.value
        switch source {
        case .pattern:
            sink.error(.codecSetting, "a test signal can't be stream-copied; use `encode`", at: location)
            return nil
        case .images:
            sink.error(.codecSetting, "image files can't be stream-copied; use `encode`", at: location)
            return nil
        // `ComposedCopyPlanner` copies video and audio of a composition.
        case .file, .job, .composition: break
        }
        let isData = track.mediaType == .data
        guard isData ? type.model.dataCodecs.contains(track.codec) : type.canHold(codec: track.codec) else {
            return refuse(
                "\(type.name) can't store \(track.knownCodec ?? "an unknown codec"), the codec of \(track.label)",
                help: track.mediaType == .subtitle
                    ? helpForSubtitle(track)
                    : isData
                        ? "it holds data tracks of \(type.model.dataCodecs.joined(separator: " and ")); use `data: { codec: … }` to select them"
                        : "use `encode`, or another container", into: &sink)
        }
        if track.has(.changingHeaders),
            [.video, .audio].contains(track.mediaType)
        {
            return refuse(
                "the codec headers of \(track.label) change within the file (concatenated files); a copy can hold only one set",
                help: "use `encode`", into: &sink)
        }
        guard hasTimes(track) else {
            sink.error(
                .containerCodec,
                isData
                    ? "the packets of \(track.label) have no timestamps, so they can't be copied"
                    : "the packets of \(track.label) have no presentation times, which a copy requires",
                at: location, help: isData ? nil : "use `encode`: decoding determines the times")
            return nil
        }
        // For Dolby Vision profile 5 in mp4, libavformat 5.1 writes another sample entry, which players
        // decode as regular frames.
        if track.dolbyVisionProfile == 5, !type.model.marksDolbyVisionProfile5 {
            return refuse(
                "\(track.label) is Dolby Vision profile 5, which \(type.name) can't signal; players would show wrong colors",
                help: "use mkv", into: &sink)
        }
        if let pause = unsupportedGap(in: track) {
            sink.error(
                .copyRange,
                "\(track.label) has a gap from \(pause.start) s to \(pause.end) s, which \(type.name) can't represent",
                at: location,
                notes: [Diagnostic.Note("the container is determined here", at: container.range)],
                help: "use `encode`, which fills the gap with silence")
            return nil
        }
        guard let range = ranges.first else { return whole(track, into: &sink) }
        switch track.mediaType {
        case .video:
            return ranges.count > 1
                ? joinedFrames(track, into: &sink) : frames(track, range: range, into: &sink)
        case .audio:
            if description.isCutAtSamples(track) { return .copy }
            // Whole packets at their presentation times are sufficient for these modes, and for `exact` with an edit
            // list.
            if cut != .exact || type.hasEditLists && ranges.count == 1 { return .copy }
            sink.error(
                .copyRange,
                ranges.count > 1
                    ? "copied audio can't be cut to the sample where ranges are joined"
                    : "\(type.name) has no edit lists, so copied audio can't be cut to the sample",
                at: location, notes: [rangeNote].compactMap(\.self),
                help: ranges.count > 1
                    ? "use `encode`, or `cut: smart` to keep whole packets"
                    : "use `encode`, or mp4, mov or m4a, or `cut: smart` to keep whole packets")
            return nil
        default: return .copy
        }
    }

    /// The location of the range or of the limit that ends the track early.
    private var rangeNote: Diagnostic.Note? {
        if let range = job.rangeLocation { return Diagnostic.Note("the range is here", at: range) }
        return output.media?.durationLimit.map { Diagnostic.Note("`limit` is here", at: $0.range) }
    }

    /// Returns the first gap of the audio that the container can't represent for copied samples, if it is known
    /// before they are read. The writer tolerates gaps of up to 10 ms.
    private func unsupportedGap(in track: TrackDescription) -> TimeRange? {
        let type = container.value
        let isGapless = type.model.requiresContiguousSamples(of: .of(track.codec))
        guard track.mediaType == .audio, track.isExact, isGapless else { return nil }
        let slack = MediaTime(value: 1, timescale: 100)
        var (offset, position) = (MediaTime.zero, MediaTime.zero)
        let whole = TimeRange(start: .zero, end: track.timeRange.end)
        for (index, range) in (ranges.isEmpty ? [whole] : ranges).enumerated() {
            let first = max(track.timeRange.start, range.start) - range.start + offset
            let last = min(track.timeRange.end, range.end) - range.start + offset
            offset = offset + range.duration
            guard last > first else { continue }
            let isInEditList = type.hasEditLists && position == .zero && index == 0
            if first > position + slack, !isInEditList { return TimeRange(start: position, end: first) }
            position = last
        }
        return nil
    }

    /// Returns help for a subtitle track that the container can't store.
    private func helpForSubtitle(_ track: TrackDescription) -> String {
        let codecs = SubtitleCodec.allCases.filter { container.value.canHold(codec: $0.libavName) }
        guard let codec = codecs.first, SubtitleCodec.canConvert(from: track.codec) else {
            return "use another container, such as mkv"
        }
        return "use `encode: { codec: \(codec.rawValue) }`, or another container"
    }

    private func whole(_ track: TrackDescription, into sink: inout DiagnosticSink) -> Result? {
        let type = container.value
        if let problem = orderProblem(track) {
            sink.error(
                .sourceOrder, problem, at: location,
                help: "use `encode`: decoding determines the presented frames")
            return nil
        }
        // Hidden frames require an edit list in the output. Players ignore it in a fragmented file.
        let isFragmented = output.media?.fragmentInterval != nil
        guard track.mediaType == .video, !type.hasEditLists || isFragmented else { return .copy }
        let help = "use `encode`, or mp4 or mov\(isFragmented ? " without `fragment`" : "")"
        if !type.hasEditLists, track.has(.hiddenBeginning) {
            return refuse(
                "\(track.label) begins with frames that an edit list hides; \(type.name) has no edit lists",
                help: help,
                into: &sink)
        }
        if track.has(.hiddenInside) {
            return refuse(
                "frames of \(track.label) refer to others that an edit list hides; \(isFragmented ? "a fragmented file" : type.name) has no edit lists",
                help: help,
                into: &sink)
        }
        return .copy
    }

    /// Returns the reason why the source's timestamps prevent a copy; nil if they don't. All packets are read
    /// if the source's index indicates a problem.
    private func orderProblem(_ track: TrackDescription) -> String? {
        guard track.mediaType == .video || track.mediaType == .audio, case .file(let path, _) = source,
            track.has(.unordered) || track.has(.hiddenInside)
        else { return nil }
        // Read errors are reported by the code that reads the file.
        switch try? prober.orderProblem(track.index, of: path) {
        case .unordered(let time):
            return
                "the decoding times of \(track.label) go back at \(time) s (repeating edits or overlapping fragments), which a copy can't represent"
        case .hiddenBetween(let time):
            return
                "\(track.label) hides frames at \(time) s (edits or overlapping fragments), which a copy would present"
        case nil: return nil
        }
    }

    /// Reports that the container can't store the track unchanged.
    private func refuse(_ message: String, help: String, into sink: inout DiagnosticSink) -> Result? {
        sink.error(
            .containerCodec, message, at: location,
            notes: [Diagnostic.Note("the container is determined here", at: container.range)], help: help)
        return nil
    }

    /// Returns whether the packets have presentation times. AVI stores only decoding times and elementary
    /// streams none, which is insufficient for codecs that reorder frames.
    private func hasTimes(_ track: TrackDescription) -> Bool {
        guard case .file(let path, _) = source else { return true }
        guard track.mediaType == .video || track.mediaType == .data,
            !description.demuxer.presentationTimes.contains(track.mediaType)
        else { return true }
        return (try? prober.hasPresentationTimes(track.index, of: path)) ?? true
    }
}
