internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Resolves one output of a job against its source. What is wrong goes to the sink, at its line.
struct OutputPlanner {
    let job: JobSpec
    let output: OutputSpec
    let container: Located<ContainerType>
    let source: InputPlan.Source
    let description: SourceDescription
    let destination: DestinationPath
    let scout: any SourceScout
    var sink = DiagnosticSink()
    private var extent = PlannedExtent()
    private var attachments: [Int] = []
    private var notes: [String] = []

    init(
        job: JobSpec, output: OutputSpec, container: Located<ContainerType>, source: InputPlan.Source,
        description: SourceDescription, destination: DestinationPath, scout: any SourceScout
    ) {
        self.scout = scout
        self.job = job
        self.output = output
        self.container = container
        self.source = source
        self.description = description
        self.destination = destination
    }

    /// Where it stands in the file.
    private var place: SourceRange { output.id?.range ?? job.id.range }

    /// What a rule selects.
    private struct Chosen {
        let rule: TrackRule
        let tracks: [SourceDescription.Track]
    }

    /// The output and what it is made of; nil where it can't be made.
    mutating func plan() -> (input: InputPlan, output: OutputPlan)? {
        var chosen: [Chosen] = []
        for rule in output.tracks {
            let found = select(rule)
            if found.isEmpty {
                let has = summary(of: rule.mediaType)
                if rule.isOptional {
                    notes.append("optional \(rule.mediaType.rawValue) left out: \(has)")
                } else {
                    sink.error(
                        .noSuchTrack, "no \(rule.mediaType.rawValue) track matches: \(has)",
                        at: rule.selection.range,
                        help: "`optional: true` lets the job go on without it")
                }
            }
            chosen.append(Chosen(rule: rule, tracks: found))
        }
        if chosen.allSatisfy({ $0.tracks.isEmpty || $0.rule.mediaType == .attachment }), !sink.hasErrors {
            sink.error(
                .noSuchTrack, "the \(output.id == nil ? "job" : "output") is left with no track at all",
                at: place)
        }
        let video = chosen.first { $0.rule.mediaType == .video && !$0.tracks.isEmpty }?.tracks.first
        let copied = chosen.first {
            $0.rule.mediaType == .video && $0.rule.action.isCopy && !$0.tracks.isEmpty
        }?.tracks.first
        var extents = ExtentPlanner(
            job: job, output: output, source: source, description: description, scout: scout)
        let isResolved = extents.plan(video: video, copied: copied)
        sink.add(extents.sink)
        notes += extents.notes
        extent = extents.extent
        guard isResolved else { return nil }
        LeftoverCheck.check(
            output, of: description, chosen: chosen.flatMap { $0.tracks.map(\.index) }, into: &sink)
        let count = chosen.reduce(0) { $0 + ($1.rule.mix == nil ? $1.tracks.count : min(1, $1.tracks.count)) }
        if container.value.isSingleTrack, count > 1 {
            sink.error(
                .containerCodec,
                "\(container.value.name) holds one track alone; the rules select \(count)",
                at: container.range)
        }
        var planner = TrackPlanner(
            job: job, output: output, container: container, source: source, description: description,
            extent: extent, scout: scout)
        let tracks = chosen.filter { $0.rule.mediaType != .attachment }.flatMap { planned($0, &planner) }
        sink.add(planner.sink)
        notes += planner.notes
        attachments = chosen.filter { $0.rule.mediaType == .attachment }.flatMap { $0.tracks.map(\.index) }
        guard !sink.hasErrors else { return nil }
        let plan = assemble(tracks)
        return sink.hasErrors ? nil : (extents.input, plan)
    }

    private mutating func assemble(_ planned: [TrackPlan]) -> OutputPlan {
        var tracks = planned
        let first = tracks.firstIndex { $0.source.mediaType == .video }
        let timecode = TimecodePlanner(
            source: description, spec: output.metadata, container: container.value,
            track: first.map { tracks[$0] }, start: extent.ranges.first?.start ?? .zero,
            setting: TimecodePlanner.setting(
                in: output, of: first.map { tracks[$0] }, container: container.value, into: &sink)
        ).answer
        if let first {
            tracks[first].metadata.removeAll { $0.key.lowercased() == "timecode" }
            if let written = timecode?.written {
                tracks[first].metadata.append(MetadataEntry(key: "timecode", value: written))
            }
        }
        let metadata = MetadataPlanner(
            spec: output.metadata, container: container.value, source: description.metadata)
        let timed = tracks.filter { $0.source.mediaType == .video || $0.source.mediaType == .audio }
        let duration = (timed.isEmpty ? tracks : timed).map(\.expected.timeRange.end).max() ?? .zero
        var chapters = ChapterPlanner(
            spec: output.chapters, source: description.chapters, ranges: extent.ranges, duration: duration,
            container: container, codec: tracks.first { $0.source.mediaType == .audio }?.outputCodec)
        chapters.plan(into: &sink)
        if let threads = job.scheduling.threads {
            for index in tracks.indices where tracks[index].source.mediaType == .video {
                guard case .encode(var encoding) = tracks[index].action else { continue }
                encoding.encoder.threads = threads
                tracks[index].action = .encode(encoding)
            }
        }
        let size = SizeEstimate.bytes(of: tracks)
        if description.missingBytes > 0 {
            notes.append("the source is truncated: \(description.missingBytes) bytes are missing")
        }
        limitSize(size, of: tracks, chapters: chapters.chapters)
        let isFile = if case .file = source { true } else { false }
        checkFileTimes()
        let covers = CoverPlanner(
            spec: output.metadata, container: container.value, source: description, isFile: isFile,
            isFragmented: output.fragmentInterval != nil)
        let ledger = LedgerBuilder(
            source: description, tracks: tracks, metadata: metadata, chapters: chapters,
            container: container.value, covers: covers, attachments: attachments, timecode: timecode)
        return OutputPlan(
            id: output.id?.value, location: place, input: 0,
            container: container.value.name, optimizesForNetwork: output.optimizeForNetwork?.value ?? false,
            fragmentInterval: output.fragmentInterval?.value,
            metadata: metadata.entries, askedTags: output.metadata.set.map { $0.key.value.lowercased() },
            keepsFileTimes: output.metadata.fileTimes != nil,
            chapters: chapters.chapters, covers: covers.kept,
            attachments: attachments,
            destination: destination.path,
            destinationLocation: output.destination.path.range,
            ifExists: output.destination.ifExists, makesDirectories: output.destination.makesDirectories,
            tracks: tracks, expectations: output.expectations,
            ledger: ledger.entries, expectedDuration: duration,
            expectedSize: size.map { min($0, output.sizeLimit?.value ?? $0) },
            sizeLimit: output.sizeLimit?.value,
            sizeLimitLocation: output.sizeLimit?.range,
            notes: notes + PlaybackNotes.of(tracks))
    }

    /// A test signal, and what a server has, have no time that could be kept.
    private mutating func checkFileTimes() {
        guard let place = output.metadata.fileTimes else { return }
        switch source {
        case .file(let path, _) where !SourceLocation.isRemote(path): return
        case .job: return
        case .file, .pattern:
            sink.error(.containerSetting, "the source is no file here, so it has no time to keep", at: place)
        }
    }

    /// What `limit: { size }` is likely to do.
    private mutating func limitSize(_ expected: Int64?, of tracks: [TrackPlan], chapters: [AssetChapter]) {
        guard let limit = output.sizeLimit else { return }
        for track in tracks {
            guard case .copy = track.action, track.source.codec == "flac" else { continue }
            sink.error(
                .copyRange,
                "flac says at its start how long it is and what its checksum is, so it can't stop at a size",
                at: limit.range, notes: [Diagnostic.Note("it is copied here", at: track.location)])
        }
        if !chapters.isEmpty, !container.value.canTakeChaptersLate {
            sink.error(
                .containerSetting,
                "\(container.value.name) has its chapters at its start, so they can't follow where it stops",
                at: limit.range, help: "`chapters: drop` leaves them")
        }
        notes.append(
            "stops where more would not fit into \(PlanText.bytes(limit.value)), as `limit` says"
                + (expected.map { $0 > limit.value ? ", which is likely" : "" } ?? ""))
    }

    // MARK: Selection

    private func select(_ rule: TrackRule) -> [SourceDescription.Track] {
        description.tracks(of: rule.mediaType, matching: rule.selection.value)
    }

    private func summary(of type: MediaType) -> String {
        let tracks = description.tracks(of: type)
        if tracks.isEmpty { return "the source has no \(type.rawValue)" }
        let each = tracks.enumerated().map {
            "\($0): \($1.isUnknown ? "of an unknown format" : $1.codec)\($1.language.map { " (\($0))" } ?? "")"
        }
        return "the source has \(tracks.count) (\(each.joined(separator: ", ")))"
    }

    // MARK: Tracks

    /// The tracks that a rule makes of those that it selects.
    private mutating func planned(_ chosen: Chosen, _ tracks: inout TrackPlanner) -> [TrackPlan] {
        guard let spec = chosen.rule.mix, case .encodeAudio = chosen.rule.action else {
            return chosen.tracks.compactMap { tracks.track($0, by: chosen.rule, mix: nil) }
        }
        let planner = MixPlanner(
            spec: spec, tracks: chosen.tracks, source: description, duration: extent.span(of: description))
        guard chosen.tracks.allSatisfy({ tracks.checkDecodable($0, rule: chosen.rule) }),
            let (mix, source) = planner.plan(into: &sink)
        else { return [] }
        if chosen.tracks.count > 1 {
            notes.append("\(chosen.tracks.count) tracks of audio become one, which can pass full scale")
        }
        return tracks.track(source, by: chosen.rule, mix: mix).map { [$0] } ?? []
    }
}
