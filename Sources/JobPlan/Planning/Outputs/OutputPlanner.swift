internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media
internal import Publishing

/// The resolution of one output of a job against its source. Errors are collected in `reasons`, each at its
/// source location.
struct OutputPlanner {
    let job: JobSpec
    /// The output; its rules are those that apply to the source, once they are selected.
    private(set) var output: OutputSpec
    let product: Product
    let container: Located<ContainerType>
    let input: ResolvedInput
    let destination: DestinationPath
    let written: DestinationSpec
    let prober: any SourceProber
    private let conditions: ConditionEvaluator
    private let files: AddedFiles
    /// Whether the output is a rendition of a package, which may be omitted.
    var isRendition = false
    /// The cover from an image file; nil for none.
    var cover: CoverPlan? { files.cover }
    var reasons = Reasons()

    init(
        job: JobSpec, output: OutputSpec, product: Product, container: Located<ContainerType>,
        input: ResolvedInput, destination: DestinationPath, as written: DestinationSpec,
        prober: any SourceProber, files: AddedFiles
    ) {
        self.product = product
        self.files = files
        self.prober = prober
        conditions = ConditionEvaluator(input, prober: prober)
        self.job = job
        self.output = output
        self.container = container
        self.input = input
        self.destination = destination
        self.written = written
    }

    var source: InputPlan.Source { input.source }
    var description: SourceDescription { input.description }

    /// The output's location in the job file.
    private var location: SourceRange { output.id?.range ?? job.id.range }

    /// Returns the output plan and the input that it reads; nil after an error.
    consuming func decide() -> Decision<(input: InputPlan, output: OutputPlan)> {
        let selection = RuleSelection(
            rules: output.tracks, conditions: conditions, sourceLocation: job.asset.range,
            mayBeEmpty: output.division?.isOptional == true)
        guard let rules = reasons.take(selection.decide()) else { return Decision(nil, reasons) }
        output.tracks = rules
        if let division = output.division, !rules.contains(where: { $0.selection == division.own }) {
            if !division.isOptional {
                reasons.error(
                    .noSuchTrack, "the rule of `${track.…}` doesn't apply, so that nothing is written",
                    at: division.selection.range,
                    help: "with `optional: true` the output is omitted; `when` of the job skips such sources")
            }
            return Decision(nil, reasons)
        }
        let chooser = TrackChooser(
            job: job, output: output, isMedia: product.isMedia, isRendition: isRendition,
            container: container, input: input, files: files, conditions: conditions, prober: prober,
            location: location)
        let chosen = reasons.take(chooser.decide()) ?? []
        if isRendition, chosen.allSatisfy(\.tracks.isEmpty) { return Decision(nil, reasons) }
        let video = chosen.first { $0.rule.mediaType == .video && !$0.tracks.isEmpty }?.tracks.first
        let copied = chosen.first {
            $0.rule.mediaType == .video && $0.rule.action.isCopy && !$0.tracks.isEmpty
        }?.tracks.first
        let extents = ExtentPlanner(
            job: job, output: output, source: source, description: description, prober: prober)
        guard let extent = reasons.take(extents.decide(video: video, copied: copied)) else {
            return Decision(nil, reasons)
        }
        reasons.add(LeftoverCheck.decide(output, of: description, chosen: chosen.flatMap(\.indices)))
        if let composed = input.composed { reasons.add(LeftoverCheck.decide(output, of: composed.unused)) }
        var tracks = tracks(reasons.take(chooser.shown(chosen, extent)) ?? [], extent)
        if !reasons.hasErrors { scaleToFit(&tracks, chosen, extent) }
        guard !reasons.hasErrors, !isOmitted(tracks) else { return Decision(nil, reasons) }
        var plan = assemble(tracks, extent, attachments: attachments(chosen))
        finish(&plan, extent)
        return Decision(reasons.hasErrors ? nil : (InputPlan(job: job, input, extent), plan), reasons)
    }

    /// Returns whether a rendition of a package, or an optional output of one track, has no such track.
    private func isOmitted(_ tracks: [TrackPlan]) -> Bool {
        if isRendition { return tracks.isEmpty }
        guard let division = output.division, division.isOptional, let own = division.own else {
            return false
        }
        let track = description.tracks(of: division.mediaType, matching: own).first?.index
        return !tracks.contains { $0.source.index == track && $0.file == nil }
    }

    private mutating func assemble(
        _ planned: [TrackPlan], _ extent: PlannedExtent, attachments: [Int]
    ) -> OutputPlan {
        var tracks = planned
        let spec = output.media ?? .defaults
        let first = tracks.firstIndex { $0.source.mediaType == .video }
        let timed = tracks.filter { $0.source.mediaType == .video || $0.source.mediaType == .audio }
        let duration = (timed.isEmpty ? tracks : timed).map(\.expected.timeRange.end).max() ?? .zero
        let chapters =
            reasons.take(
                ChapterPlanner(
                    spec: spec.chapters, source: description.chapters,
                    clips: input.composed?.clipChapters,
                    ranges: extent.ranges,
                    frames: FrameLocator(
                        track: first.map { tracks[$0].source }, source: source, prober: prober),
                    duration: duration, container: container,
                    codec: tracks.first { $0.source.mediaType == .audio }?.outputCodec
                ).decide()) ?? []
        let timecode =
            reasons.take(
                TimecodePlanner(
                    source: description, output: output, container: container.value,
                    track: first.map { tracks[$0] }, start: extent.ranges.first?.start ?? .zero
                ).decide()) ?? ""
        if let first {
            tracks[first].metadata.removeAll(where: \.isTimecode)
            if !timecode.isEmpty {
                tracks[first].metadata.append(MetadataEntry(key: MetadataEntry.timecodeKey, value: timecode))
            }
        }
        let metadata =
            reasons.take(
                MetadataPlanner(
                    spec: spec.metadata, container: container.value, source: description.metadata,
                    changesLevels: tracks.contains(where: \.changesLevels)
                ).decide()) ?? []
        let isFile = if case .file = source { true } else { false }
        let covers =
            reasons.take(
                CoverPlanner(
                    spec: spec.metadata, container: container.value, source: description,
                    isFile: isFile,
                    isFragmented: spec.fragmentInterval != nil,
                    isReplaced: spec.metadata.cover != nil
                ).decide()) ?? []
        setThreads(of: &tracks)
        let fitted = hasOneTarget(tracks) ? fitSize(of: &tracks, metadata) : nil
        let size = fitted ?? SizeEstimate.bytes(of: tracks)?.adding(upToLimit: cover?.image.size ?? 0)
        if description.missingBytes > 0 {
            reasons.note("the source is truncated: \(description.missingBytes) bytes are missing")
        }
        limitSize(size, of: tracks, chapters: chapters)
        checkFileTimes()
        let media = MediaPlan(
            optimizesForNetwork: spec.optimizeForNetwork?.value ?? false,
            fragmentInterval: spec.fragmentInterval?.value, metadata: metadata,
            requestedTags: spec.metadata.set.map { $0.key.value.lowercased() },
            keepsFileTimes: spec.metadata.fileTimes != nil, chapters: chapters, covers: covers,
            cover: cover, attachments: attachments, sizeLimit: spec.sizeLimit?.value,
            sizeLimitLocation: spec.sizeLimit?.range)
        return OutputPlan(
            id: output.id?.value, location: location, container: container.value.name, kind: .media(media),
            destination: destination.path, destinationLocation: written.path.range,
            ifExists: written.ifExists, makesDirectories: written.makesDirectories, tracks: tracks,
            expectations: output.expectations,
            ledger: LedgerCollector.ledger(reasons.ledger, of: description), expectedDuration: duration,
            expectedSize: size.map { min($0, spec.sizeLimit?.value ?? $0) },
            notes: reasons.notes + PlaybackNotes.of(tracks))
    }

    /// Returns whether at most one track has `target_size` or `quality`; otherwise reports an error.
    private mutating func hasOneTarget(_ tracks: [TrackPlan]) -> Bool {
        let encodings = tracks.compactMap(\.encoding)
        let sizes = encodings.compactMap(\.targetSize?.location)
        let qualities = encodings.compactMap(\.targetQuality?.location)
        guard let location = sizes.first ?? qualities.first, sizes.count + qualities.count > 1 else {
            return true
        }
        let key = sizes.isEmpty ? "quality" : "target_size"
        reasons.error(
            .conflictingKeys,
            "`\(key)` determines the settings of one video track; the rules select \(sizes.count + qualities.count)",
            at: location)
        return false
    }

    /// Reduces the frame of a track with `scale: auto`.
    private mutating func scaleToFit(
        _ tracks: inout [TrackPlan], _ chosen: [ChosenTracks], _ extent: PlannedExtent
    ) {
        guard let position = tracks.firstIndex(where: { $0.encoding?.targetSize != nil }),
            let choice = chosen.first(where: { $0.rule.range == tracks[position].location })
        else { return }
        let own = self
        let scaling = ScalePlanner(
            tracks: tracks, position: position, rule: choice.rule,
            planner: planner(of: choice, among: chosen, extent),
            fit: { own.targetSizePlanner($0, []).decide().value })
        if let scaled = reasons.take(scaling.decide()) { tracks = scaled }
    }

    /// Returns the planner of the tracks that a rule selects; `all` are those of all rules.
    private func planner(
        of chosen: ChosenTracks, among all: [ChosenTracks], _ extent: PlannedExtent
    ) -> TrackPlanner {
        var planner = TrackPlanner(
            job: job, output: output, container: container, input: chosen.file?.input ?? input,
            extent: extent, prober: prober)
        planner.isRendition = isRendition
        planner.fonts = files.fonts
        planner.burned = chosen.burned
        planner.burned?.isSelected = all.contains { other in
            other.file == nil && other.tracks.contains { $0.index == chosen.burned?.track.index }
        }
        return planner
    }

    private func targetSizePlanner(_ tracks: [TrackPlan], _ metadata: [MetadataEntry]) -> TargetSizePlanner {
        let tags = (metadata + tracks.flatMap(\.metadata)).reduce(0) {
            $0 + $1.key.utf8.count + $1.value.utf8.count + 64
        }
        return TargetSizePlanner(
            tracks: tracks, container: container.value, source: source,
            fixedBytes: Int64(tags).adding(upToLimit: cover?.image.size ?? 0),
            fragmentInterval: output.media?.fragmentInterval?.value, prober: prober,
            measured: input.byteCounts, sourceLocation: job.asset.range)
    }

    /// Sets the bit rate of a track with `target_size`. Returns the predicted size of the output; nil without such a track.
    private mutating func fitSize(of tracks: inout [TrackPlan], _ metadata: [MetadataEntry]) -> Int64? {
        guard let fitted = reasons.take(targetSizePlanner(tracks, metadata).decide()) else { return nil }
        tracks = fitted.tracks
        return fitted.size
    }

    private func setThreads(of tracks: inout [TrackPlan]) {
        guard let threads = job.scheduling.threads else { return }
        for index in tracks.indices where tracks[index].source.mediaType == .video {
            guard case .encode(var encoding) = tracks[index].action else { continue }
            if encoding.encoder.chunk == nil {
                encoding.encoder.threads = threads
            } else {
                encoding.maxChunks = min(encoding.maxChunks ?? threads, threads)
            }
            tracks[index].action = .encode(encoding)
        }
    }

    /// Reports an error if `file_times` are kept for a source without times: a test signal or a remote file.
    private mutating func checkFileTimes() {
        guard let location = output.media?.metadata.fileTimes else { return }
        switch source {
        case .file(let path, _) where !SourceLocation.isRemote(path): return
        case .job: return
        case .file, .pattern, .images, .composition:
            reasons.error(
                .containerSetting, "`file_times` requires a file as the source", at: location)
        }
    }

    /// Checks `limit: { size }`, and adds a note on whether the limit is likely to be reached.
    private mutating func limitSize(_ expected: Int64?, of tracks: [TrackPlan], chapters: [AssetChapter]) {
        guard let limit = output.media?.sizeLimit else { return }
        for track in tracks {
            guard case .copy = track.action, BitstreamTraits.of(track.source.codec).storesLengthInHeader
            else {
                continue
            }
            reasons.error(
                .copyRange,
                "`limit: { size }` can't be combined with copied \(track.source.codec), whose header contains its length and checksum",
                at: limit.range, notes: [Diagnostic.Note("the track is copied here", at: track.location)])
        }
        if !chapters.isEmpty, !container.value.model.canWriteChaptersLate {
            reasons.error(
                .containerSetting,
                "`limit: { size }` can't be combined with chapters in \(container.value.name), which stores chapters first",
                at: limit.range, help: "use `chapters: drop`")
        }
        if let cover, cover.image.size >= limit.value {
            reasons.error(
                .conflictingKeys,
                "the cover (\(PlanText.bytes(cover.image.size))) exceeds `limit: { size }` (\(PlanText.bytes(limit.value)))",
                at: cover.location, notes: [Diagnostic.Note("`limit` is here", at: limit.range)])
        }
        reasons.note(
            "stops before it exceeds \(PlanText.bytes(limit.value)) (`limit`)"
                + (expected.map { $0 > limit.value ? ", which is likely" : "" } ?? ""))
    }

    // MARK: Tracks

    /// Returns the indices of the attachments that are copied.
    private mutating func attachments(_ chosen: [ChosenTracks]) -> [Int] {
        let files = chosen.filter(\.isAttachment).flatMap(\.tracks)
        for file in files {
            reasons.account(for: .track(file), of: file.index, .copied, "kept")
        }
        return files.map(\.index)
    }

    /// Returns the output's tracks, without those that failed.
    private mutating func tracks(_ all: [ChosenTracks], _ extent: PlannedExtent) -> [TrackPlan] {
        var tracks: [TrackPlan] = []
        for chosen in all where !chosen.isAttachment {
            let planner = planner(of: chosen, among: all, extent)
            let file = chosen.tracks.isEmpty ? nil : chosen.file.map { plan(of: $0, extent) }
            for (track, mix) in combined(chosen, planner, extent) {
                var decision = planner.decide(
                    track, by: product.rule(chosen.rule, for: track), mix: mix,
                    at: tracks.count)
                if let file { decision = decision.reading(file) }
                if let track = reasons.take(decision) { tracks.append(track) }
            }
        }
        return tracks
    }

    /// Returns the plan of a subtitle file, which ends with the source. Reports a file that ends later, as one for another
    /// version of the source does.
    private mutating func plan(of file: SubtitleFile, _ extent: PlannedExtent) -> SubtitleFilePlan {
        var plan = file.plan
        plan.end = description.endOfSubtitles(in: extent)
        guard let sourceEnd = plan.end else { return plan }
        let end = file.input.description.duration
        // Some formats state a length of 2^32 ms for a subtitle that is shown until the next one.
        let isUnknown = end > MediaTime(value: 3_600_000, timescale: 1)
        if !isUnknown, end > sourceEnd + MediaTime(value: 1, timescale: 1) {
            reasons.diagnostics.warning(
                .invalidRange,
                "\(plan.name) ends at \(PlanText.time(end)), after the source, which ends at \(PlanText.time(description.duration)); later subtitles are dropped",
                at: plan.location)
        }
        return plan
    }

    /// Returns the inputs of a rule's output tracks: each track that it selects, or one mix or composition of them.
    private mutating func combined(
        _ chosen: ChosenTracks, _ tracks: TrackPlanner, _ extent: PlannedExtent
    ) -> [(TrackDescription, AudioMix?)] {
        let rule = chosen.rule
        guard rule.combinesTracks, !rule.action.isCopy, !chosen.tracks.isEmpty else {
            return chosen.tracks.map { ($0, nil) }
        }
        for track in chosen.tracks where !tracks.checkDecodable(track, rule: rule, &reasons) { return [] }
        if let composition = rule.videoComposition {
            do {
                return [(try composition.description(of: chosen.tracks), nil)]
            } catch {
                reasons.error(.invalidValue, "\(error)", at: rule.range)
                return []
            }
        }
        let planner = MixPlanner(
            spec: rule.mix, tracks: chosen.tracks,
            source: description, duration: extent.span(of: description), whole: rule.audioMix)
        return reasons.take(planner.decide()).map { [($0.sum, $0.mix)] } ?? []
    }
}

extension Decision<TrackPlan> {
    /// Returns the decision on a track of a subtitle file: the track and its ledger entries name the file.
    fileprivate func reading(_ file: SubtitleFilePlan) -> Decision {
        var track = value
        track?.file = file
        return Decision(track, reasons.concerning(file))
    }
}
