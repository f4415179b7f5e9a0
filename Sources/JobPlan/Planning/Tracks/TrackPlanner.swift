internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// Decides what becomes of a track of the source that a rule selects. What is wrong goes to the sink, at its line.
struct TrackPlanner {
    let job: JobSpec
    let output: OutputSpec
    let container: Located<ContainerType>
    let source: InputPlan.Source
    let description: SourceDescription
    let extent: PlannedExtent
    let scout: any SourceScout
    var sink = DiagnosticSink()
    var notes: [String] = []

    /// Nil where it can't be made; the sink says why.
    mutating func track(
        _ track: SourceDescription.Track, by rule: TrackRule, mix: AudioMix?
    ) -> TrackPlan? {
        guard let decision = decision(of: track, by: rule) else { return nil }
        var action = decision.action
        let transform = decision.transform
        if track.mediaType == .subtitle { return subtitle(track, action, rule: rule) }
        if case .encode(var encoding) = action {
            guard tryEncoder(&encoding, of: track, rule: rule) else { return nil }
            action = .encode(encoding)
        }
        guard
            let expected = expectation(of: track, action, turned: transform, by: rule)
        else { return nil }
        let tags = tags(of: track, action, rule: rule)
        return TrackPlan(
            source: track, mix: mix?.poorer(for: action), action: action, expected: expected,
            transform: transform,
            location: rule.range,
            metadata: tags.entries, askedTags: tags.asked, tags: tags.ledger, disposition: tags.disposition,
            sideData: track.mediaType == .video ? carriedSideData(track, action) : [])
    }

    /// What is done with it, and how the output's frames are turned for display.
    private mutating func decision(
        of track: SourceDescription.Track, by rule: TrackRule
    ) -> (action: TrackPlan.Action, transform: DisplayTransform?)? {
        guard case .copy(let place, let otherwise) = rule.action else {
            return encoded(track, rule.action, by: rule)
        }
        let copying = CopyPlanner(
            job: job, output: output, container: container, source: source, scout: scout,
            description: description, ranges: extent.ranges, place: place, otherwise: otherwise,
            widenedTrack: extent.widenedTrack)
        switch copying.plan(track, into: &sink) {
        case nil: return nil
        case .copy:
            if copying.keepsWholePackets(of: track) {
                notes.append(
                    "\(label(track)) is cut between packets: part of one is missing at each end of a range")
            }
            return (.copy, track.transform)
        case .smartCut(let cut, let unheeded):
            if !unheeded.isEmpty {
                notes.append(
                    "the edges of \(label(track)) follow the source, not \(unheeded.joined(separator: ", "))"
                )
            }
            return (.smartCut(cut), track.transform)
        case .fallBack(let action, let why):
            notes.append("\(label(track)) is re-encoded: \(why)")
            return encoded(track, action, by: rule)
        }
    }

    /// How a track is encoded.
    private mutating func encoded(
        _ track: SourceDescription.Track, _ wanted: TrackRule.Action, by rule: TrackRule
    ) -> (action: TrackPlan.Action, transform: DisplayTransform?)? {
        switch wanted {
        case .copy: return nil
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
                spec: spec, track: track, picture: picture, timeZero: description.timeZero,
                ranges: extent.ranges,
                encoder: encoder, container: container.value)
            let encoding = planner.plan()
            guard PicturePlanner.check(encoding, of: picture, spec, scout: scout, into: &sink) else {
                return nil
            }
            notes += planner.notes
            return (.encode(encoding), picture.transform)
        case .encodeAudio(let spec):
            guard checkDecodable(track, rule: rule), let encoder = spec.codec.value.availableEncoder else {
                return nil
            }
            var planner = AudioEncodingPlanner(
                spec: spec, track: track, encoder: encoder, container: container.value)
            let encoding = planner.plan()
            guard checkSound(encoding, rule: rule, spec: spec) else { return nil }
            notes += planner.notes
            return (.encode(encoding), track.transform)
        case .encodeSubtitle(let spec):
            guard SubtitleCodec.canConvert(from: track.codec) else {
                sink.error(
                    .cannotDecode,
                    "\(label(track)) is \(track.codec), whose cues are images: they can't become text",
                    at: spec.codec.range, help: "`copy: true` takes them as they are")
                return nil
            }
            return (.subtitle(spec.codec.value), track.transform)
        }
    }

    /// What comes of it; nil where nothing would, or what can't be.
    private mutating func expectation(
        of track: SourceDescription.Track, _ action: TrackPlan.Action, turned transform: DisplayTransform?,
        by rule: TrackRule
    ) -> TrackPlan.Expectation? {
        if transform?.isIdentity == false, !container.value.hasDisplayMatrix {
            sink.error(
                .containerSetting,
                "\(container.value.name) can't say that the frame is rotated, and the source's is",
                at: container.range, help: "mp4 and mov can; or `orientation: bake` rotates the frame itself")
            return nil
        }
        let expected = ExpectationPlanner(
            track: track, action: action, container: container.value
        ).expectation(of: extent.ranges)
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
                "the frame would be \(encoding.encoder.width)x\(encoding.encoder.height); a side has at most 16384 pixels",
                at: rule.range)
            return nil
        }
        if expected.frames == 0 {
            sink.error(
                .invalidRange, "\(label(track)) would have no frame: the range is shorter than one",
                at: rule.range)
            return nil
        }
        return expected
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
        let start = extent.range?.start ?? .zero
        let end = min(extent.range?.end ?? track.timeRange.end, max(track.timeRange.end, start))
        let shown = extent.joined.isEmpty ? end - start : extent.span(of: description)
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
            track: track, rule: rule, keep: output.metadata.keep, container: container,
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

    mutating func checkDecodable(_ track: SourceDescription.Track, rule: TrackRule) -> Bool {
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
            "\(label(track)): its size or pixel format can't be found out; it may have no frames",
            at: rule.selection.range)
        return false
    }

    private mutating func checkSound(_ encoding: TrackPlan.Encoding, rule: TrackRule, spec: AudioEncodeSpec)
        -> Bool
    {
        guard encoding.encoder.sampleRate > 0 else {
            sink.error(
                .cannotDecode, "the sample rate of the audio can't be found out", at: rule.selection.range)
            return false
        }
        return true
    }
}
