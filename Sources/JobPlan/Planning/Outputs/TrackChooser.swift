internal import Diagnostics
internal import ExactStrings
internal import JobSpec
internal import LibAV
internal import Media

/// A rule with the tracks that it selects.
struct ChosenTracks {
    let rule: TrackRule
    let tracks: [TrackDescription]
    /// The file that has the tracks; nil for those of the source.
    var file: SubtitleFile? = nil
    /// The subtitles that are drawn into the frames of the tracks; nil for none.
    var burned: BurnedTrack? = nil
    /// Indices of the tracks in the source, with those of burned subtitles.
    var indices: [Int] {
        let own = file == nil ? tracks.map(\.index) : []
        return own + (burned.map { $0.file == nil ? [$0.track.index] : [] } ?? [])
    }
    var isAttachment: Bool { rule.mediaType == .attachment }
}

/// The choice of the tracks of an output by its rules, in the source and in subtitle files.
struct TrackChooser {
    let job: JobSpec
    /// The output with the rules that apply to the source.
    let output: OutputSpec
    /// Whether the output consists of tracks; `images` and `waveform` require their track.
    let isMedia: Bool
    /// Whether the output is a rendition of a package, which may be omitted.
    let isRendition: Bool
    let container: Located<ContainerType>
    let input: ResolvedInput
    let files: AddedFiles
    let conditions: ConditionEvaluator
    let prober: any SourceProber
    /// The output's location in the job file.
    let location: SourceRange
    var reasons = Reasons()
    private var description: SourceDescription { input.description }

    /// Returns the tracks that each rule selects.
    func decide() -> Decision<[ChosenTracks]> {
        var chooser = self
        let chosen = chooser.chosen()
        return Decision(chosen, chooser.reasons)
    }

    /// Returns a choice without the subtitle tracks that have no event in the range that is read.
    func shown(_ chosen: [ChosenTracks], _ extent: PlannedExtent) -> Decision<[ChosenTracks]> {
        var chooser = self
        let shown = chooser.withoutEmptySubtitles(chosen, extent)
        return Decision(shown, chooser.reasons)
    }

    private mutating func chosen() -> [ChosenTracks] {
        var chosen: [ChosenTracks] = []
        for rule in output.tracks {
            if let file = rule.file {
                chosen += choose(from: file, by: rule)
                continue
            }
            let selected = description.select(rule.mediaType, by: rule.selection)
            if let note = selected.note { reasons.note(note) }
            if selected.tracks.isEmpty {
                let has = summary(of: rule.mediaType)
                if rule.isOptional {
                    omit(rule, has: has)
                } else {
                    reasons.error(
                        .noSuchTrack,
                        "no \(rule.mediaType.rawValue) track matches\(rule.selection.alternatives): \(has)",
                        at: rule.selection.range,
                        help: isMedia ? "with `optional: true` the job runs without it" : nil)
                }
            }
            let burned =
                selected.tracks.isEmpty ? nil : rule.action.video?.burn.flatMap { self.burned($0) }
            chosen += conforming(
                ChosenTracks(rule: rule, tracks: selected.tracks, burned: burned))
        }
        requireTrack(of: chosen)
        let count = chosen.reduce(0) {
            $0 + ($1.rule.combinesTracks ? min(1, $1.tracks.count) : $1.tracks.count)
        }
        if container.value.model.isSingleTrack, count > 1 {
            reasons.error(
                .containerCodec,
                "\(container.value.name) can store only one track; the rules select \(count)",
                at: isRendition ? output.tracks.first?.selection.range ?? container.range : container.range)
        }
        return chosen
    }

    /// Returns the tracks of a subtitle file that a rule selects.
    private mutating func choose(from spec: SubtitleFileSpec, by rule: TrackRule) -> [ChosenTracks] {
        switch reasons.take(files.subtitles(spec, rule.isOptional)) {
        case nil: return []
        case .missing(let path):
            let file = path.pathParts.last ?? path
            reasons.note("optional subtitle dropped: \(file) doesn't exist")
            reasons.account(for: .named("subtitle file \(file)"), of: nil, .dropped, "it doesn't exist")
            return []
        case .found(let file):
            let selected = file.input.description.select(.subtitle, by: rule.selection)
            guard selected.tracks.isEmpty else {
                return conforming(ChosenTracks(rule: rule, tracks: selected.tracks, file: file))
            }
            let has = summary(of: .subtitle, in: file.input.description, named: file.plan.name)
            if rule.isOptional {
                reasons.note("optional subtitle dropped: \(has)")
            } else {
                reasons.error(
                    .noSuchTrack, "no subtitle track matches: \(has)", at: rule.selection.range,
                    help: selectsUnstatedLanguage(rule.selection, of: file)
                        ? "the file states no language; `language` of the rule labels the track, and `{ path: …, language: … }` the file"
                        : "with `optional: true` the job runs without it")
            }
            return []
        }
    }

    /// Returns the subtitle track that an encoding draws into frames; nil for none, and after an error.
    private mutating func burned(_ spec: BurnSpec) -> BurnedTrack? {
        var file: SubtitleFile?
        if let written = spec.file {
            switch reasons.take(files.subtitles(written, spec.isOptional)) {
            case nil: return nil
            case .missing(let path):
                let file = path.pathParts.last ?? path
                reasons.note("optional `burn` omitted: \(file) doesn't exist")
                reasons.account(
                    for: .named("subtitle file \(file)"), of: nil, .dropped, "it doesn't exist")
                return nil
            case .found(let found): file = found
            }
        }
        let source = file?.input.description ?? description
        let selected = source.select(.subtitle, by: spec.selection)
        if let track = selected.tracks.first {
            if let note = selected.note { reasons.note("`burn`: \(note)") }
            return BurnedTrack(spec: spec, track: track, file: file)
        }
        let has = summary(of: .subtitle, in: source, named: file?.plan.name ?? "the source")
        if spec.isOptional {
            reasons.note("optional `burn` omitted: \(has)")
            reasons.account(for: .named("burned subtitles"), of: nil, .dropped, has)
        } else {
            reasons.error(
                .noSuchTrack, "no subtitle track matches\(spec.selection.alternatives): \(has)",
                at: spec.selection.range,
                help: file.map { selectsUnstatedLanguage(spec.selection, of: $0) } == true
                    ? "the file states no language; `asset: { path: …, language: … }` states it"
                    : "with `optional: true` the frames are encoded without subtitles")
        }
        return nil
    }

    /// Whether subtitles are selected by language in a file that states none.
    private func selectsUnstatedLanguage(_ selection: TrackSelection, of file: SubtitleFile) -> Bool {
        let tracks = file.input.description.tracks(of: .subtitle)
        return !tracks.isEmpty && tracks.allSatisfy { $0.language == nil }
            && selection.entries.contains { entry in
                if case .matching(let criteria) = entry.value { criteria.language != nil } else { false }
            }
    }

    /// Returns the tracks of a rule with `copy: { where: … }`, divided into sections of tracks that are copied and sections
    /// of tracks that are encoded, in the order of the tracks. Any other rule is one section.
    private mutating func conforming(_ chosen: ChosenTracks) -> [ChosenTracks] {
        guard let condition = chosen.rule.copyCondition else { return [chosen] }
        var sections: [(isCopied: Bool, tracks: [TrackDescription])] = []
        do throws(SourceProblem) {
            for track in chosen.tracks {
                let finding = try conditions.evaluate(condition, of: track)
                switch finding.outcome {
                case .holds: reasons.note("\(track.label) meets `where`: \(finding.text)")
                case .fails: reasons.note("\(track.label) doesn't meet `where`: \(finding.text)")
                case .unknown:
                    reasons.note(RuleSelection.postponed("\(track.label) is copied", finding))
                }
                let isCopied = finding.outcome != .fails
                if sections.last?.isCopied == isCopied {
                    sections[sections.count - 1].tracks.append(track)
                } else {
                    sections.append((isCopied, [track]))
                }
            }
        } catch {
            reasons.error(.sourceUnreadable, "the source can't be read: \(error)", at: job.asset.range)
            return []
        }
        return sections.compactMap { section in
            chosen.rule.applied(isCopied: section.isCopied).map {
                ChosenTracks(
                    rule: $0, tracks: section.tracks, file: chosen.file, burned: chosen.burned)
            }
        }
    }

    /// Returns the selection without text subtitle tracks that have no event in the range that is read. An
    /// optional rule omits them; for any other rule that is an error. Sources that other jobs have yet to
    /// publish are checked during the run.
    private mutating func withoutEmptySubtitles(_ chosen: [ChosenTracks], _ extent: PlannedExtent)
        -> [ChosenTracks]
    {
        var kept: [ChosenTracks] = []
        for chosen in chosen {
            if let burned = chosen.burned {
                let isKept = isShown(
                    burned.track, in: burned.file, Requirement(burned.spec), extent)
                kept.append(
                    ChosenTracks(
                        rule: chosen.rule, tracks: chosen.tracks, burned: isKept ? burned : nil))
                continue
            }
            guard chosen.rule.mediaType == .subtitle else {
                kept.append(chosen)
                continue
            }
            let requirement = Requirement(chosen.rule)
            let tracks = chosen.tracks.filter { isShown($0, in: chosen.file, requirement, extent) }
            kept.append(ChosenTracks(rule: chosen.rule, tracks: tracks, file: chosen.file))
        }
        // A choice without tracks is already an error.
        if !Self.lacksTracks(chosen) { requireTrack(of: kept) }
        return kept
    }

    private static func lacksTracks(_ chosen: [ChosenTracks]) -> Bool {
        chosen.allSatisfy { $0.tracks.isEmpty || $0.isAttachment }
    }

    /// Reports an output without tracks, unless the reason is reported. A rendition of a package, and an optional output of one
    /// track, may be omitted.
    private mutating func requireTrack(of chosen: [ChosenTracks]) {
        guard Self.lacksTracks(chosen), !reasons.hasErrors, !isRendition,
            output.division?.isOptional != true
        else { return }
        reasons.error(
            .noSuchTrack, "the \(output.id == nil ? "job" : "output") has no track", at: location)
    }

    /// The place of a subtitle selection in the job file, and the consequence of a track without events.
    private struct Requirement {
        let isOptional: Bool
        let range: SourceRange
        /// The effect of `optional: true`.
        let omission: String
        /// Whether the subtitles are drawn into frames.
        let isBurn: Bool

        init(_ rule: TrackRule) {
            (isOptional, range, isBurn) = (rule.isOptional, rule.selection.range, false)
            omission = "the job runs without it"
        }

        init(_ burn: BurnSpec) {
            (isOptional, range, isBurn) = (burn.isOptional, burn.selection.range, true)
            omission = "the frames are encoded without subtitles"
        }
    }

    private mutating func isShown(
        _ track: TrackDescription, in file: SubtitleFile?, _ requirement: Requirement,
        _ extent: PlannedExtent
    ) -> Bool {
        guard case .file(let path, _) = file?.input.source ?? input.source else { return true }
        let end = file == nil ? nil : description.endOfSubtitles(in: extent)
        let ranges = end.map { [TimeRange(start: .zero, end: $0)] } ?? extent.ranges
        let name = track.subtitleName(in: file)
        do throws(SourceProblem) {
            if try prober.hasSubtitleEvents(track.index, in: ranges, of: path) { return true }
        } catch {
            reasons.error(
                .sourceUnreadable, "\(path): \(error)", at: file?.plan.location ?? job.asset.range)
            return false
        }
        let whose =
            !extent.ranges.isEmpty ? " in the range" : end == nil ? "" : " before the end of the source"
        if requirement.isOptional {
            reasons.note(
                requirement.isBurn
                    ? "optional `burn` omitted: \(name) has no event\(whose)"
                    : "optional \(name) dropped: it has no event\(whose)")
            if file == nil {
                reasons.account(
                    for: .track(track), of: track.index, .dropped, "it has no event\(whose)")
            }
        } else {
            reasons.error(
                .noSuchTrack, "\(name) has no event\(whose)", at: requirement.range,
                help: "with `optional: true` \(requirement.omission)")
        }
        return false
    }

    /// Reports that an optional rule selects no track. A silent output of a source with audio is rarely
    /// intended and gives a warning; other cases give a note.
    private mutating func omit(_ rule: TrackRule, has: String) {
        let isSilent =
            !isRendition && rule.mediaType == .audio && !description.tracks(of: .audio).isEmpty
            && !output.tracks.contains {
                $0.mediaType == .audio
                    && !description.tracks(of: .audio, matching: $0.selection).isEmpty
            }
        let alternatives = rule.selection.alternatives
        guard isSilent else {
            let cause = alternatives.isEmpty ? has : "no track matches\(alternatives); \(has)"
            return reasons.note("optional \(rule.mediaType.rawValue) dropped: \(cause)")
        }
        reasons.diagnostics.warning(
            .noSuchTrack,
            "the output has no audio: no track matches this optional selection\(alternatives.isEmpty ? "" : ",\(alternatives)"); \(has)",
            at: rule.selection.range)
    }

    private func summary(of type: MediaType) -> String {
        summary(of: type, in: description, named: "the source")
    }

    private func summary(
        of type: MediaType, in description: SourceDescription, named name: String
    ) -> String {
        let tracks = description.tracks(of: type)
        if tracks.isEmpty { return "\(name) has no \(type.rawValue)" }
        let each = tracks.enumerated().map {
            "\($0): \($1.isUnknown ? "unknown format" : $1.codec)\($1.language.map { " (\($0))" } ?? "")"
        }
        return "\(name) has \(tracks.count) (\(each.joined(separator: ", ")))"
    }
}

extension SourceDescription {
    /// Returns the end of the source, with which subtitle files end; nil if ranges determine it, or if it is estimated.
    func endOfSubtitles(in extent: PlannedExtent) -> MediaTime? {
        extent.ranges.isEmpty && !isDurationGuessed ? duration : nil
    }
}
