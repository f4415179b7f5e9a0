internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Resolves one job against its source. What is wrong goes to the sink, at its line.
struct JobPlanner {
    let job: JobSpec
    let container: Located<ContainerType>
    let file: JobFile
    let source: JobPlan.Source
    let description: SourceDescription
    let destination: DestinationPath
    let scout: any SourceScout
    var sink = DiagnosticSink()
    private var range: TimeRange?
    private var joined: [TimeRange] = []
    private var attachments: [Int] = []
    private var requestedRange: TimeRange?
    private var widenedTrack: Int?
    private var notes: [String] = []

    init(
        job: JobSpec, container: Located<ContainerType>, file: JobFile, source: JobPlan.Source,
        description: SourceDescription, destination: DestinationPath, scout: any SourceScout
    ) {
        self.scout = scout
        self.job = job
        self.container = container
        self.file = file
        self.source = source
        self.description = description
        self.destination = destination
    }

    /// What a rule selects.
    private struct Chosen {
        let rule: TrackRule
        let tracks: [SourceDescription.Track]
    }

    mutating func plan() -> JobPlan? {
        var chosen: [Chosen] = []
        for rule in job.tracks {
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
            sink.error(.noSuchTrack, "the job is left with no track at all", at: job.id.range)
        }
        let video = chosen.first { $0.rule.mediaType == .video && !$0.tracks.isEmpty }?.tracks.first
        let resolver = RangeResolver(source: description, video: video)
        let asked = job.ranges.compactMap { resolver.resolve($0, into: &sink) }
        if asked.count < job.ranges.count { return nil }
        if asked.count > 1 { joined = asked } else { range = asked.first }
        limitDuration(video: video)
        widen(chosen)
        if case .job(let id, _) = source, !ranges.isEmpty, let cut = job.cut?.value, cut != .exact {
            notes.append("how the range is cut is found out once \(id) has published")
        }
        LeftoverCheck.check(
            job, of: description, chosen: chosen.flatMap { $0.tracks.map(\.index) }, into: &sink)
        let count = chosen.reduce(0) { $0 + ($1.rule.mix == nil ? $1.tracks.count : min(1, $1.tracks.count)) }
        if container.value.isSingleTrack, count > 1 {
            sink.error(
                .containerCodec,
                "\(container.value.name) holds one track alone; the rules select \(count)",
                at: container.range)
        }
        let tracks = chosen.filter { $0.rule.mediaType != .attachment }.flatMap { planned($0) }
        attachments = chosen.filter { $0.rule.mediaType == .attachment }.flatMap { $0.tracks.map(\.index) }
        guard !sink.hasErrors else { return nil }
        let plan = assemble(tracks)
        return sink.hasErrors ? nil : plan
    }

    private mutating func assemble(_ planned: [TrackPlan]) -> JobPlan {
        var tracks = planned
        let first = tracks.firstIndex { $0.source.mediaType == .video }
        let timecode = TimecodePlanner(
            source: description, spec: job.metadata, container: container.value,
            track: first.map { tracks[$0] }, start: ranges.first?.start ?? .zero,
            setting: TimecodePlanner.setting(
                in: job, of: first.map { tracks[$0] }, container: container.value, into: &sink)
        ).answer
        if let first {
            tracks[first].metadata.removeAll { $0.key.lowercased() == "timecode" }
            if let written = timecode?.written {
                tracks[first].metadata.append(MetadataEntry(key: "timecode", value: written))
            }
        }
        let metadata = MetadataPlanner(
            spec: job.metadata, container: container.value, source: description.metadata)
        let timed = tracks.filter { $0.source.mediaType == .video || $0.source.mediaType == .audio }
        let duration = (timed.isEmpty ? tracks : timed).map(\.expected.timeRange.end).max() ?? .zero
        var chapters = ChapterPlanner(
            spec: job.chapters, source: description.chapters, ranges: ranges, duration: duration,
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
            spec: job.metadata, container: container.value, source: description, isFile: isFile,
            isFragmented: job.fragmentInterval != nil)
        let ledger = LedgerBuilder(
            source: description, tracks: tracks, metadata: metadata, chapters: chapters,
            container: container.value, covers: covers, attachments: attachments, timecode: timecode)
        return JobPlan(
            id: job.id.value, base: job.base, needs: job.needs.map(\.value), file: file.path,
            location: job.id.range, source: source, timing: job.asset.timing,
            sourceDescription: description, range: range, joinedRanges: joined,
            requestedRange: requestedRange,
            damagePolicy: job.onDamage?.value ?? .fail, rangeLocation: job.rangeLocation,
            cut: range == nil && joined.isEmpty ? nil : job.cut?.value,
            container: container.value.name, optimizesForNetwork: job.optimizeForNetwork?.value ?? false,
            fragmentInterval: job.fragmentInterval?.value,
            metadata: metadata.entries, askedTags: job.metadata.set.map { $0.key.value.lowercased() },
            keepsFileTimes: job.metadata.fileTimes != nil,
            chapters: chapters.chapters, covers: covers.kept,
            attachments: attachments,
            destination: destination.path,
            destinationLocation: job.destination.path.range,
            ifExists: job.destination.ifExists, makesDirectories: job.destination.makesDirectories,
            tracks: tracks, expectations: job.expectations,
            ledger: ledger.entries, expectedDuration: duration,
            expectedSize: size.map { min($0, job.sizeLimit?.value ?? $0) }, sizeLimit: job.sizeLimit?.value,
            sizeLimitLocation: job.sizeLimit?.range,
            notes: notes + PlaybackNotes.of(tracks), scheduling: job.scheduling)
    }

    /// A test signal, and what a server has, have no time that could be kept.
    private mutating func checkFileTimes() {
        guard let place = job.metadata.fileTimes else { return }
        switch source {
        case .file(let path, _) where !SourceLocation.isRemote(path): return
        case .job: return
        case .file, .pattern:
            sink.error(.containerSetting, "the source is no file here, so it has no time to keep", at: place)
        }
    }

    /// What `limit: { size }` is likely to do.
    private mutating func limitSize(_ expected: Int64?, of tracks: [TrackPlan], chapters: [AssetChapter]) {
        guard let limit = job.sizeLimit else { return }
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

    /// How long the output is at most.
    private var lengthLimit: MediaTime?

    /// `limit` ends the range earlier.
    private mutating func limitDuration(video: SourceDescription.Track?) {
        guard let limit = job.durationLimit else { return }
        let resolver = RangeResolver(source: description, video: video)
        guard let length = resolver.duration(limit, into: &sink) else { return }
        let start = range?.start ?? .zero
        let end = range?.end ?? description.duration
        guard length > .zero else {
            sink.error(.invalidRange, "an output of no length is none", at: limit.range)
            return
        }
        lengthLimit = length
        if !joined.isEmpty {
            shortenJoined(to: length)
            return
        }
        if start + length < end {
            range = TimeRange(start: start, end: start + length)
            notes.append("stops after \(length) s, as `limit` says")
        }
    }

    /// Ranges past the limit are left out; where one is left, it is one.
    private mutating func shortenJoined(to length: MediaTime) {
        let kept = joined.prefix(lasting: length)
        guard kept != joined else { return }
        notes.append("stops after \(length) s, as `limit` says")
        if kept.count > 1 {
            joined = kept
        } else {
            joined = []
            range = kept.first
        }
    }

    /// What is read, in order; empty for everything.
    private var ranges: [TimeRange] { joined.isEmpty ? range.map { [$0] } ?? [] : joined }

    /// How long what is read is.
    private var span: MediaTime {
        ranges.isEmpty ? description.duration : ranges.reduce(.zero) { $0 + $1.duration }
    }

    /// `cut: keyframe` widens the range to where the first copied track of pictures can begin and end.
    private mutating func widen(_ chosen: [Chosen]) {
        guard job.cut?.value == .keyframe, !ranges.isEmpty, case .file(let path, _) = source,
            let track = chosen.first(where: {
                $0.rule.mediaType == .video && $0.rule.action.isCopy && !$0.tracks.isEmpty
            })?.tracks.first
        else { return }
        do {
            let wide = try ranges.map { asked throws(SourceProblem) in
                try CopyPlanner.widened(
                    asked, limit: joined.isEmpty ? lengthLimit : nil, track: track, path: path,
                    end: description.duration,
                    damagePolicy: job.onDamage?.value ?? .fail, scout: scout)
            }
            if joined.isEmpty {
                guard let only = wide.first ?? nil else { return }
                if let limit = lengthLimit, only.duration > limit {
                    sink.error(
                        .copyRange, "copied pictures can't begin and end within the \(limit) s of `limit`",
                        at: job.cut?.range ?? job.id.range)
                }
                requestedRange = range
                range = only
                widenedTrack = track.index
                return
            }
            for (index, wide) in wide.enumerated() {
                guard let wide else { continue }
                notes.append(
                    "range \(index + 1), asked for from \(joined[index].start) s to \(joined[index].end) s, is widened to where copied pictures can begin and end"
                )
                joined[index] = wide
            }
        } catch {
            sink.error(.sourceUnreadable, "\(path): \(error)", at: job.cut?.range ?? job.id.range)
        }
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
    private mutating func planned(_ chosen: Chosen) -> [TrackPlan] {
        guard let spec = chosen.rule.mix, case .encodeAudio = chosen.rule.action else {
            return chosen.tracks.compactMap { track($0, by: chosen.rule, mix: nil) }
        }
        let planner = MixPlanner(
            spec: spec, tracks: chosen.tracks, source: description, duration: span)
        guard chosen.tracks.allSatisfy({ checkDecodable($0, rule: chosen.rule) }),
            let (mix, source) = planner.plan(into: &sink)
        else { return [] }
        if chosen.tracks.count > 1 {
            notes.append("\(chosen.tracks.count) tracks of sound become one, which can pass full scale")
        }
        return track(source, by: chosen.rule, mix: mix).map { [$0] } ?? []
    }

    private mutating func track(
        _ track: SourceDescription.Track, by rule: TrackRule, mix: AudioMix?
    ) -> TrackPlan? {
        var action: TrackPlan.Action
        var transform = track.transform
        var wanted = rule.action
        var copied: TrackPlan.Action?
        if case .copy(let place, let otherwise) = wanted {
            let copying = CopyPlanner(
                job: job, container: container, source: source, scout: scout, description: description,
                ranges: ranges,
                place: place, otherwise: otherwise, widenedTrack: widenedTrack)
            switch copying.plan(track, into: &sink) {
            case nil: return nil
            case .copy:
                copied = .copy
                if copying.keepsWholePackets(of: track) {
                    notes.append(
                        "\(label(track)) is cut between packets: part of one is missing at each end of a range"
                    )
                }
            case .smartCut(let cut, let unheeded):
                copied = .smartCut(cut)
                if !unheeded.isEmpty {
                    notes.append(
                        "the edges of \(label(track)) follow the source, not \(unheeded.joined(separator: ", "))"
                    )
                }
            case .fallBack(let action, let why):
                wanted = action
                notes.append("\(label(track)) is compressed anew: \(why)")
            }
        }
        switch wanted {
        case .copy:
            guard let copied else { return nil }
            action = copied
        case .encodeVideo(let written):
            let spec = PicturePlanner.settled(written, for: track)
            if written.color?.isForHighRangeAlone == true, PicturePlanner.isLightUnknown(track) {
                notes.append(
                    "\(label(track)) is of high dynamic range, and doesn't say its primaries or its matrix: it stays so"
                )
            }
            guard checkDecodable(track, rule: rule), checkPicture(track, rule: rule),
                let encoder = spec.codec.value.availableEncoder
            else { return nil }
            guard let picture = PicturePlanner(spec: spec, track: track, scout: scout).plan(into: &sink)
            else { return nil }
            var planner = VideoEncodingPlanner(
                spec: spec, track: track, picture: picture, timeZero: description.timeZero, ranges: ranges,
                encoder: encoder, container: container.value)
            let encoding = planner.plan()
            guard PicturePlanner.check(encoding, of: picture, spec, scout: scout, into: &sink) else {
                return nil
            }
            action = .encode(encoding)
            transform = picture.transform
            notes += planner.notes
        case .encodeAudio(let spec):
            guard checkDecodable(track, rule: rule), let encoder = spec.codec.value.availableEncoder else {
                return nil
            }
            var planner = AudioEncodingPlanner(
                spec: spec, track: track, encoder: encoder, container: container.value)
            let encoding = planner.plan()
            guard checkSound(encoding, rule: rule, spec: spec) else { return nil }
            action = .encode(encoding)
            notes += planner.notes
        case .encodeSubtitle(let spec):
            guard SubtitleCodec.canConvert(from: track.codec) else {
                sink.error(
                    .cannotDecode,
                    "\(label(track)) is \(track.codec), whose cues are pictures: they can't become text",
                    at: spec.codec.range, help: "`copy: true` takes them as they are")
                return nil
            }
            action = .subtitle(spec.codec.value)
        }
        if track.mediaType == .subtitle { return subtitle(track, action, rule: rule) }
        if case .encode(var encoding) = action {
            guard tryEncoder(&encoding, of: track, rule: rule) else { return nil }
            action = .encode(encoding)
        }
        if transform?.isIdentity == false, !container.value.hasDisplayMatrix {
            sink.error(
                .containerSetting,
                "\(container.value.name) can't say that the picture is turned, and the source's is",
                at: container.range, help: "mp4 and mov can; or `orientation: bake` turns the picture itself")
            return nil
        }
        let expected = ExpectationPlanner(
            track: track, action: action, container: container.value
        ).expectation(of: ranges)
        guard expected.timeRange.duration > .zero else {
            sink.error(
                .invalidRange, "\(label(track)) shows nothing in this range",
                at: job.rangeLocation ?? rule.selection.range)
            return nil
        }
        if case .encode(let encoding) = action, max(encoding.encoder.width, encoding.encoder.height) > 16_384
        {
            sink.error(
                .codecSetting,
                "the picture would be \(encoding.encoder.width)x\(encoding.encoder.height); a side has at most 16384 pixels",
                at: rule.range)
            return nil
        }
        if expected.frames == 0 {
            sink.error(
                .invalidRange, "\(label(track)) would have no picture: the range is shorter than one",
                at: rule.range)
            return nil
        }
        let tags = tags(of: track, action, rule: rule)
        return TrackPlan(
            source: track, mix: mix?.poorer(for: action), action: action, expected: expected,
            transform: transform,
            location: rule.range,
            metadata: tags.entries, askedTags: tags.asked, tags: tags.ledger, disposition: tags.disposition,
            sideData: track.mediaType == .video ? carriedSideData(track, action) : [])
    }

    /// The encoder itself says what it makes of its settings. What it makes otherwise than asked is an error where it was
    /// asked; what nobody asked for is planned as it comes.
    private mutating func tryEncoder(
        _ encoding: inout TrackPlan.Encoding, of track: SourceDescription.Track, rule: TrackRule
    ) -> Bool {
        let name = encoding.encoder.encoder
        switch scout.verdict(on: .encoder(encoding.encoder)) {
        case .holds, .becomes: return true
        case .unheeded(let other):
            if let place = rule.action.place(of: other.setting) {
                sink.error(
                    .codecSetting, "\(name) makes \(other.made) of \(label(track)) with these settings",
                    at: place,
                    help: other.setting == "profile"
                        ? "a profile says what may be used; what is needed comes from `pixel_format` (\(encoding.encoder.pixelFormat) here), `preset` and `options`"
                        : nil)
                return false
            }
            if let rate = other.bitRate { encoding.take(bitRate: rate) }
            return true
        case .problem(let problem):
            sink.error(
                .codecSetting, "\(name) can't be opened with these settings for \(label(track)): \(problem)",
                at: rule.action.range)
            return false
        }
    }

    /// Cues may be few or none in a range; nothing of them can be foretold but where they may lie.
    private mutating func subtitle(
        _ track: SourceDescription.Track, _ action: TrackPlan.Action, rule: TrackRule
    ) -> TrackPlan {
        let start = range?.start ?? .zero
        let end = min(range?.end ?? track.timeRange.end, max(track.timeRange.end, start))
        let shown = joined.isEmpty ? end - start : span
        let expected = TrackPlan.Expectation(
            frames: nil, samples: nil, timeRange: TimeRange(start: .zero, end: shown), isExact: false)
        let tags = tags(of: track, action, rule: rule)
        return TrackPlan(
            source: track, action: action, expected: expected, transform: nil, location: rule.range,
            metadata: tags.entries, askedTags: tags.asked, tags: tags.ledger, disposition: tags.disposition,
            sideData: [])
    }

    /// What is known of a track follows it, unless the rule says otherwise.
    private mutating func tags(
        of track: SourceDescription.Track, _ action: TrackPlan.Action, rule: TrackRule
    ) -> TrackTagPlanner {
        var hasAlpha = track.hasAlphaBeside
        if case .encode(let encoding) = action {
            hasAlpha = encoding.codec == "vp9" && encoding.encoder.pixelFormat.hasAlpha
        }
        var planner = TrackTagPlanner(
            track: track, rule: rule, keep: job.metadata.keep, container: container,
            hasAlphaBeside: hasAlpha && container.value.holdsAlphaBeside)
        planner.plan(into: &sink)
        notes += planner.notes
        return planner
    }

    private func label(_ track: SourceDescription.Track) -> String {
        "\(track.mediaType.rawValue) track \(track.index)"
    }

    /// HDR's descriptions go along; Dolby Vision's goes only with its own packets.
    private func carriedSideData(_ track: SourceDescription.Track, _ action: TrackPlan.Action) -> [String] {
        track.sideData.filter { kind in
            if case .copy = action, kind == "dovi" { return container.value.holdsDolbyVision }
            // They describe a light that is no longer there.
            if case .encode(let encoding) = action, encoding.video?.mapsTones == true { return false }
            return ["mastering", "cll"].contains(kind)
        }
    }

    private mutating func checkDecodable(_ track: SourceDescription.Track, rule: TrackRule) -> Bool {
        if track.isDecodable { return true }
        let codec = track.codec == "none" ? "its codec" : track.codec
        sink.error(
            .cannotDecode, "\(label(track)): this build can't decode \(codec)", at: rule.selection.range)
        return false
    }

    private mutating func checkPicture(_ track: SourceDescription.Track, rule: TrackRule) -> Bool {
        if track.dolbyVisionProfile == 5 {
            sink.error(
                .cannotDecode,
                "\(label(track)) is Dolby Vision profile 5, whose colours can't be told without its metadata",
                at: rule.action.range, help: "`copy: true` takes it as it is")
            return false
        }
        if track.width > 0, track.height > 0, track.pixelFormat != .none { return true }
        sink.error(
            .cannotDecode,
            "\(label(track)): its size or pixel format can't be found out; it may have no pictures",
            at: rule.selection.range)
        return false
    }

    private mutating func checkSound(_ encoding: TrackPlan.Encoding, rule: TrackRule, spec: AudioEncodeSpec)
        -> Bool
    {
        guard encoding.encoder.sampleRate > 0 else {
            sink.error(
                .cannotDecode, "the sample rate of the sound can't be found out", at: rule.selection.range)
            return false
        }
        return true
    }
}
