internal import Diagnostics
internal import JobSpec
internal import LibAV
internal import Media

/// The planner of an output's track, from a source track or a mix that a rule selects.
struct TrackPlanner {
    let job: JobSpec
    let output: OutputSpec
    let container: Located<ContainerType>
    let input: ResolvedInput
    let extent: PlannedExtent
    let prober: any SourceProber
    /// Whether the track is that of a rendition of a package, whose manifests state the language.
    var isRendition = false
    /// Subtitles that are drawn into the frames; nil for none.
    var burned: BurnedTrack? = nil
    /// Returns the machine's fonts, for subtitles.
    var fonts: () -> FontFinder = { FontFinder(paths: []) }
    private var description: SourceDescription { input.description }

    /// Returns the output's track at a position, created from a source track or from a mix with the same
    /// description.
    func decide(
        _ selected: TrackDescription, by rule: TrackRule, mix: AudioMix?, at position: Int
    ) -> Decision<TrackPlan> {
        var reasons = Reasons()
        guard let treatment = treatment(of: selected, by: rule, &reasons) else {
            return Decision(nil, reasons)
        }
        let track = treatment.track
        var action = treatment.action
        if case .encode(var encoding) = action {
            guard tryEncoder(&encoding, of: track, rule: rule, &reasons) else {
                return Decision(nil, reasons)
            }
            action = .encode(encoding)
        }
        let expected =
            track.mediaType == .subtitle
            ? cues(of: track)
            : expectation(of: track, action, rotated: treatment.transform, by: rule, &reasons)
        guard let expected, let tags = reasons.take(tags(of: track, action, mix: mix, rule: rule)) else {
            return Decision(nil, reasons)
        }
        let plan = TrackPlan(
            source: track, mix: mix?.poorer(for: action), composing: rule.videoComposition, action: action,
            expected: expected,
            transform: track.mediaType == .subtitle ? nil : treatment.transform,
            location: rule.range,
            metadata: tags.entries, requestedTags: tags.requested, disposition: tags.disposition,
            sideData: sideData(of: track, action, &reasons), fallbackReason: treatment.fallbackReason)
        account(for: plan, at: position, &reasons)
        return Decision(plan, reasons)
    }

    // MARK: Ledger

    /// Adds the ledger entries of the source tracks as a whole.
    private func account(for plan: TrackPlan, at position: Int, _ reasons: inout Reasons) {
        var outcome = LedgerEntry.Outcome.encoded
        var reason = "as track \(position)"
        switch plan.action {
        case .copy, .read: outcome = .copied
        case .subtitle(let codec): reason += ", \(codec.rawValue)"
        case .smartCut(let cut):
            outcome = .copied
            reason +=
                cut.isComposed
                ? ", \(cut.copiedFrames) frames of clips copied, \(cut.headFrames + cut.tailFrames) re-encoded"
                : ", \(cut.headFrames + cut.tailFrames) frames at its edges re-encoded"
        case .encode(let encoding):
            reason += ", \(encoding.codec)"
            if plan.mix.map({ $0.inputs.count > 1 }) == true { reason += ", mixed" }
            if plan.composing != nil { reason += ", composed" }
        }
        for track in description.tracks where plan.takes(track.index) {
            reasons.account(for: .track(track), of: track.index, outcome, reason)
            guard track.index != plan.source.index else { continue }
            // The output's track has the tags and side data of the mix's first track.
            for tag in track.tags where !tag.isTimecode {
                reasons.account(
                    for: .tag(tag.key), of: track.index, .dropped,
                    "the mix keeps those of track \(plan.source.index)")
            }
            for kind in track.sideDataKinds {
                reasons.account(for: .sideData(kind), of: track.index, .dropped, "not supported in outputs")
            }
        }
    }

    /// Returns the types of side data that are kept: HDR metadata is kept, Dolby Vision metadata only with
    /// its own packets.
    private func sideData(
        of track: TrackDescription, _ action: TrackPlan.Action, _ reasons: inout Reasons
    ) -> [SideDataKind] {
        var carried: [SideDataKind] = []
        for kind in track.sideDataKinds {
            var problem: String?
            switch (kind, action) {
            case _ where track.mediaType != .video: problem = "not supported in outputs"
            case (.dolbyVision, .copy):
                if !container.value.model.storesDolbyVision {
                    problem = "\(container.value.name) can't store it"
                }
            case (.dolbyVision, _): problem = "re-encoding drops Dolby Vision metadata"
            case (.secondView, .copy):
                problem = "libavformat can't write its configuration (lhvC); players show the first view"
            case (.secondView, _): problem = "libavcodec decodes only the first view"
            case (.masteringDisplay, .encode(let encoding)), (.contentLight, .encode(let encoding)):
                if encoding.video?.mapsTones == true {
                    problem = "tone mapping invalidates HDR metadata"
                }
            case (.masteringDisplay, _), (.contentLight, _): break
            default: problem = "not supported in outputs"
            }
            if problem == nil { carried.append(kind) }
            reasons.account(
                for: .sideData(kind), of: track.index, problem == nil ? .copied : .dropped,
                problem ?? "kept")
        }
        return carried
    }

    /// Adds ledger entries for styles of subtitle events that another codec can't represent.
    private func accountForStyles(
        of track: TrackDescription, as codec: SubtitleCodec, _ reasons: inout Reasons
    ) {
        for (item, reason) in SubtitleLosses.of(track.codec, as: codec) {
            reasons.account(for: .named(item), of: track.index, .dropped, reason)
        }
    }

    // MARK: Actions

    /// The action on a track, with the rotation of the output's frames for display. `track` is the source's,
    /// or the composition's after its clips are copied.
    private struct Treatment {
        var action: TrackPlan.Action
        var transform: DisplayTransform?
        var track: TrackDescription
        /// Reason why the track is re-encoded although the rule copies it; nil if it isn't.
        var fallbackReason: String?

        init(_ action: TrackPlan.Action, _ transform: DisplayTransform?, _ track: TrackDescription) {
            (self.action, self.transform, self.track) = (action, transform, track)
        }
    }

    /// Returns the action on a track; nil after an error.
    private func treatment(
        of track: TrackDescription, by rule: TrackRule, _ reasons: inout Reasons
    ) -> Treatment? {
        guard case .copy(let location, let otherwise) = rule.action else {
            return encoded(track, rule.action, by: rule, &reasons)
        }
        if let composed = input.composed, track.mediaType != .subtitle {
            return clips(of: composed, track, at: location, otherwise, by: rule, &reasons)
        }
        let planner = CopyPlanner(
            job: job, output: output, container: container, source: input.source, prober: prober,
            description: description, ranges: extent.ranges, location: location, otherwise: otherwise,
            widenedTrack: extent.widenedTrack)
        switch reasons.take(planner.decide(track)) {
        case nil: return nil
        case .copy: return Treatment(.copy, track.transform, track)
        case .smartCut(let cut): return Treatment(.smartCut(cut), track.transform, track)
        case .fallBack(let action, let why):
            return fallback(action, why, track, by: rule, &reasons)
        }
    }

    /// Returns the action on a composition's track whose clips are copied; nil after an error.
    private func clips(
        of composed: ComposedSource, _ track: TrackDescription, at location: SourceRange,
        _ otherwise: TrackRule.Action?, by rule: TrackRule, _ reasons: inout Reasons
    ) -> Treatment? {
        let planner = ComposedCopyPlanner(
            composed: composed, job: job, output: output, container: container, ranges: extent.ranges,
            location: location, otherwise: otherwise, prober: prober)
        switch reasons.take(planner.decide(track)) {
        case nil: return nil
        case .clips(let clips):
            return Treatment(.smartCut(clips.cut), clips.like.transform, track.with(clips))
        case .audio(let audio):
            return Treatment(.copy, nil, track.with(packetsLike: audio.like, over: audio.timeRange))
        case .predicted(let like):
            return Treatment(.copy, like.transform, track.with(packetsLike: like, over: track.timeRange))
        case .fallBack(let action, let why):
            return fallback(action, why, track, by: rule, &reasons)
        }
    }

    /// Returns the encoding of a track that can't be copied; nil after an error.
    private func fallback(
        _ action: TrackRule.Action, _ why: String, _ track: TrackDescription, by rule: TrackRule,
        _ reasons: inout Reasons
    ) -> Treatment? {
        var treatment = encoded(track, action, by: rule, &reasons)
        treatment?.fallbackReason = why
        return treatment
    }

    /// Returns the encoding of a track; nil after an error.
    private func encoded(
        _ track: TrackDescription, _ requested: TrackRule.Action, by rule: TrackRule,
        _ reasons: inout Reasons
    ) -> Treatment? {
        switch requested {
        case .copy: return nil
        case .encodeVideo(let spec): return video(track, spec, by: rule, &reasons)
        case .encodeAudio(let spec):
            guard checkDecodable(track, rule: rule, &reasons),
                let encoder = spec.codec.value.availableEncoder
            else { return nil }
            let planner = AudioEncodingPlanner(
                spec: spec, track: track, encoder: encoder, container: container.value)
            guard let encoding = reasons.take(planner.decide()) else { return nil }
            guard encoding.encoder.sampleRate > 0 else {
                reasons.error(
                    .cannotDecode, "the sample rate of the audio is unknown",
                    at: rule.selection.range)
                return nil
            }
            return Treatment(.encode(encoding), track.transform, track)
        case .encodeSubtitle(let spec):
            guard SubtitleCodec.canConvert(from: track.codec) else {
                reasons.error(
                    .cannotDecode,
                    "\(track.label) is \(track.codec), which stores images; they can't be converted to text",
                    at: spec.codec.range,
                    help: container.value.canHold(codec: track.codec)
                        ? "use `copy: true` to keep the images"
                        : "\(container.value.name) can't store them; in mkv, `copy: true` keeps the images")
                return nil
            }
            accountForStyles(of: track, as: spec.codec.value, &reasons)
            return Treatment(.subtitle(spec.codec.value), track.transform, track)
        }
    }

    /// Path of the source if it is a media file; nil for others, and for packages, whose tracks have several files.
    private var mediaFile: String? {
        guard input.package == nil, case .file(let path, _) = input.source else { return nil }
        return path
    }

    private func video(
        _ track: TrackDescription, _ written: VideoEncodeSpec, by rule: TrackRule,
        _ reasons: inout Reasons
    ) -> Treatment? {
        var spec = FramePlanner.resolved(written, for: track)
        if let burned { turnUpright(&spec, of: track, for: burned.spec, &reasons) }
        if written.color?.isForHighRangeAlone == true, FramePlanner.lacksToneMappingColor(track) {
            reasons.note(
                "\(track.label) is HDR without primaries or matrix, so it is not tone-mapped"
            )
        }
        guard checkDecodable(track, rule: rule, &reasons), checkFrames(track, rule: rule, &reasons),
            let encoder = spec.codec.value.availableEncoder,
            let prepared = reasons.take(
                FramePlanner(spec: spec, track: track, prober: prober, path: mediaFile).decide())
        else { return nil }
        let planner = VideoEncodingPlanner(
            spec: spec, track: track, prepared: prepared, timeZero: description.timeZero,
            ranges: extent.ranges, encoder: encoder, container: container.value)
        guard var encoding = reasons.take(planner.decide()),
            FramePlanner.check(encoding, of: prepared, spec, prober: prober, &reasons),
            burn(into: &encoding, of: track, &reasons)
        else { return nil }
        return Treatment(.encode(encoding), prepared.transform, track)
    }

    /// Rotates frames that the source's display matrix would rotate for display, so that subtitles are upright.
    private func turnUpright(
        _ spec: inout VideoEncodeSpec, of track: TrackDescription, for burn: BurnSpec,
        _ reasons: inout Reasons
    ) {
        guard track.transform?.isIdentity == false else { return }
        if let orientation = spec.orientation {
            guard case .keep = orientation.value else { return }
            reasons.error(
                .conflictingKeys,
                "`burn` requires upright frames, and `orientation: keep` keeps the rotation of the source",
                at: burn.range, notes: [Diagnostic.Note("`orientation` is here", at: orientation.range)],
                help: "use `orientation: bake`")
        } else {
            spec.orientation = Located(.bake, at: burn.range)
            reasons.note("\(track.label) is rotated upright, because subtitles are drawn into it")
        }
    }

    /// Adds the subtitles that are drawn into the frames to an encoding. Returns false after an error.
    private func burn(
        into encoding: inout TrackPlan.Encoding, of track: TrackDescription, _ reasons: inout Reasons
    ) -> Bool {
        guard let burned else { return true }
        let planner = BurnPlanner(
            burned: burned, source: input.source, isPackage: input.package != nil,
            pixelFormat: encoding.video?.pixelFormat ?? track.pixelFormat,
            isHighRange: encoding.encoder.color.isHighRange, fonts: fonts)
        guard let plan = reasons.take(planner.decide()) else { return false }
        encoding.burn = plan
        encoding.settings.append(
            TrackPlan.Setting(
                key: "burn", value: ([burned.name] + plan.style.description).joined(separator: ", "),
                origin: TrackPlan.Setting.Origin(burned.spec.range)))
        if burned.file == nil {
            reasons.account(
                for: .track(burned.track), of: burned.track.index, .encoded, "drawn into the frames")
            for tag in burned.track.tags where !tag.isTimecode && !burned.isSelected {
                reasons.account(
                    for: .tag(tag.key), of: burned.track.index, .dropped,
                    "the subtitles are part of the frames")
            }
        }
        return true
    }

    /// Returns the prediction for the output's track; nil after an error, if the track would be empty or
    /// isn't supported.
    private func expectation(
        of track: TrackDescription, _ action: TrackPlan.Action, rotated transform: DisplayTransform?,
        by rule: TrackRule, _ reasons: inout Reasons
    ) -> TrackPlan.Expectation? {
        if transform?.isIdentity == false, !container.value.model.hasDisplayMatrix {
            reasons.error(
                .containerSetting,
                "\(container.value.name) can't store the rotation of the source",
                at: container.range, help: "use mp4 or mov, or `orientation: bake` to rotate the frames")
            return nil
        }
        let expected = ExpectationPlanner(
            track: track, action: action, container: container.value
        ).expectation(of: extent.ranges)
        guard expected.timeRange.duration > .zero else {
            reasons.error(
                .invalidRange, "\(track.label) has no samples in this range",
                at: job.rangeLocation ?? rule.selection.range)
            return nil
        }
        if case .encode(let encoding) = action,
            max(encoding.encoder.width, encoding.encoder.height) > PixelSize.maxSide
        {
            reasons.error(
                .codecSetting,
                "the frame would be \(encoding.encoder.width)x\(encoding.encoder.height); width and height are at most \(PixelSize.maxSide)",
                at: rule.range)
            return nil
        }
        if expected.frames == 0 {
            reasons.error(
                .invalidRange, "\(track.label) has no frame in this range, which is shorter than a frame",
                at: rule.range)
            return nil
        }
        return expected
    }

    /// Opens the encoder with the planned settings. A setting that the encoder changes is an error if the job
    /// sets it; otherwise the plan adopts the encoder's value. A bit rate that exceeds a limit at the
    /// source's sample rate or channels is reduced with a warning.
    private func tryEncoder(
        _ encoding: inout TrackPlan.Encoding, of track: TrackDescription, rule: TrackRule,
        _ reasons: inout Reasons
    ) -> Bool {
        let name = encoding.encoder.encoder
        switch prober.verdict(on: .encoder(encoding.encoder)) {
        case .valid, .outputs: return true
        case .ignored(let other):
            if let rate = other.bitRate, let location = rule.action.location(of: other.setting),
                dependsOnSource(encoding, of: rule)
            {
                clamp(&encoding, to: rate, of: track, at: location, &reasons)
                return true
            }
            if let location = rule.action.location(of: other.setting) {
                reasons.error(
                    .codecSetting,
                    "\(name) produces \(other.actual) for \(track.label), not the requested \(other.setting.rawValue)",
                    at: location,
                    help: other.setting == .profile
                        ? "the profile follows from `pixel_format` (here \(encoding.encoder.pixelFormat)), `preset` and `options`"
                        : nil)
                return false
            }
            if let rate = other.bitRate { encoding.take(bitRate: rate) }
            return true
        case .problem(let problem):
            if let location = rule.action.location(of: .bitRate), dependsOnSource(encoding, of: rule),
                let rate = nextLowerRate(of: encoding)
            {
                clamp(&encoding, to: rate, of: track, at: location, &reasons)
                return true
            }
            reasons.error(
                .codecSetting, "\(name) can't be opened with these settings for \(track.label): \(problem)",
                at: rule.action.range)
            return false
        }
    }

    /// Returns whether the bit rate would be accepted at another sample rate or channel count. The limit then
    /// depends on the source and isn't a mistake in the job file.
    private func dependsOnSource(_ encoding: TrackPlan.Encoding, of rule: TrackRule) -> Bool {
        guard let spec = rule.action.audio, spec.bitRate != nil,
            spec.sampleRate == nil || spec.channels == nil
        else { return false }
        var rates: [Int32] = [48_000, 44_100, 24_000, 22_050, 16_000, 8000]
        var layouts: [ChannelLayout] = [.stereo, .mono]
        if let surround = ChannelLayout(named: "5.1") { layouts.append(surround) }
        if let rate = spec.sampleRate?.value { rates = [rate] }
        if let layout = spec.channels?.value { layouts = [layout] }
        for rate in rates {
            for layout in layouts {
                var other = encoding.encoder
                (other.sampleRate, other.timeBase, other.channelLayout) = (rate, Rational(1, rate), layout)
                if case .valid = prober.verdict(on: .encoder(other)) { return true }
            }
        }
        return false
    }

    /// Returns the highest common bit rate below the requested one with which the encoder opens; nil if there
    /// is none.
    private func nextLowerRate(of encoding: TrackPlan.Encoding) -> Int64? {
        let requested = encoding.encoder.bitRate ?? 0
        let commonRates: [Int64] = [
            768, 640, 576, 512, 448, 384, 320, 256, 224, 192, 176, 160, 144, 128, 112, 96, 88, 80, 72, 64, 56,
            48, 40,
            32, 24, 16, 12, 8,
        ]
        return commonRates.lazy.map { $0 * 1000 }.filter { $0 < requested }.first { rate in
            var other = encoding.encoder
            other.bitRate = rate
            if case .valid = prober.verdict(on: .encoder(other)) { return true }
            return false
        }
    }

    private func clamp(
        _ encoding: inout TrackPlan.Encoding, to rate: Int64, of track: TrackDescription,
        at location: SourceRange,
        _ reasons: inout Reasons
    ) {
        func text(_ rate: Int64) -> String { rate % 1000 == 0 ? "\(rate / 1000)k" : "\(rate)" }
        let (requested, encoder) = (encoding.encoder.bitRate ?? 0, encoding.encoder)
        let layout = encoder.channelLayout.map { " \($0)" } ?? ""
        let limit =
            rate < requested
            ? "bitrate \(text(requested)) exceeds the maximum of \(encoding.codec) at \(encoder.sampleRate) Hz\(layout)"
            : "\(encoding.codec) doesn't support the bitrate \(text(requested)) at \(encoder.sampleRate) Hz\(layout)"
        reasons.diagnostics.warning(
            .codecLimit, "\(track.label): \(limit); encoding at \(text(rate))", at: location,
            help: "set `sample_rate` and `channels` to be independent of the source")
        encoding.take(bitRate: rate)
    }

    /// Returns the prediction for subtitles. A range may contain any number of events, so only their time
    /// range is predicted.
    private func cues(of track: TrackDescription) -> TrackPlan.Expectation {
        let start = extent.range?.start ?? .zero
        let end = min(extent.range?.end ?? track.timeRange.end, max(track.timeRange.end, start))
        let shown = extent.joined.isEmpty ? end - start : extent.span(of: description)
        return TrackPlan.Expectation(
            frames: nil, samples: nil, timeRange: TimeRange(start: .zero, end: shown), isExact: false)
    }

    /// Returns the tags of the output's track: those of the source, unless the rule sets others.
    private func tags(
        of track: TrackDescription, _ action: TrackPlan.Action, mix: AudioMix?, rule: TrackRule
    ) -> Decision<TrackTagPlanner.Tags> {
        var hasAlpha = track.hasSeparateAlpha
        if case .encode(let encoding) = action {
            hasAlpha =
                encoding.encoder.model?.frames.writesSeparateAlpha == true
                && encoding.encoder.pixelFormat.hasAlpha
        }
        let planner = TrackTagPlanner(
            track: track, rule: rule, keep: (output.media ?? .defaults).metadata.keep,
            container: container,
            hasSeparateAlpha: hasAlpha && container.value.model.supportsSeparateAlpha,
            changesLevels: action.changesLevels(of: track, mix: mix), isRendition: isRendition)
        return planner.decide()
    }

    func checkDecodable(
        _ track: TrackDescription, rule: TrackRule, _ reasons: inout Reasons
    ) -> Bool {
        if track.isDecodable { return true }
        reasons.error(.cannotDecode, track.missingDecoderText, at: rule.selection.range)
        return false
    }

    private func checkFrames(
        _ track: TrackDescription, rule: TrackRule, _ reasons: inout Reasons
    ) -> Bool {
        if track.dolbyVisionProfile == 5 {
            reasons.error(
                .cannotDecode,
                "\(track.label) is Dolby Vision profile 5, whose colors can't be decoded without its metadata",
                at: rule.action.range, help: "use `copy: true`")
            return false
        }
        if track.width > 0, track.height > 0, track.pixelFormat != .none { return true }
        reasons.error(
            .cannotDecode,
            "the size or pixel format of \(track.label) is unknown; the track may have no frames",
            at: rule.selection.range)
        return false
    }
}
