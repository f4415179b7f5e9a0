internal import Diagnostics
internal import ExactStrings
internal import LibAV
internal import Media
internal import YAMLDocument

/// Division of outputs into one for each track of the source.
extension JobDecoder {
    /// Closure that returns the tracks of the source of a kind that a selection includes.
    typealias Tracks = (MediaType, TrackSelection) -> [TrackDivision.Track]

    /// Returns the location of the destination of a job or an output if it contains a variable of a track; nil otherwise.
    static func divisionLocation(in written: YAMLNode) -> SourceRange? {
        guard written.hasSubstitution, written[key: "tracks"] != nil,
            let destination = written[key: "destination"]
        else { return nil }
        let path = destination[key: "path"] ?? destination
        guard let text = path.text, Substitution.names(in: text).contains(where: Scope.trackNames.contains)
        else { return nil }
        return path.range
    }

    /// Returns the node of a job or an output after substitution. The variables of a track are available in texts that name or
    /// describe the output: in its destination and tags, and in language, title and tags of its tracks.
    func substituted(_ node: YAMLNode, _ scope: Scope) -> YAMLNode {
        guard scope.track != nil, node.hasSubstitution else {
            return Substitution(scope: scope, reader: reader).apply(to: node)
        }
        var others = scope
        others.track = nil
        let whole = Substitution(scope: scope, reader: reader)
        let rest = Substitution(scope: others, reader: reader)
        func mapped(_ node: YAMLNode, _ change: (YAMLNode.Entry) -> YAMLNode) -> YAMLNode {
            guard case .mapping(let entries) = node.content else { return rest.apply(to: node) }
            return YAMLNode(
                .mapping(
                    entries.map {
                        YAMLNode.Entry(key: $0.key, keyRange: $0.keyRange, value: change($0))
                    }), at: node.range)
        }
        func each(_ node: YAMLNode, _ change: (YAMLNode) -> YAMLNode) -> YAMLNode {
            guard case .sequence(let items) = node.content else { return rest.apply(to: node) }
            return YAMLNode(.sequence(items.map(change)), at: node.range)
        }
        func rule(_ node: YAMLNode) -> YAMLNode {
            mapped(node) { entry in
                switch entry.key {
                case "language", "title", "metadata": whole.apply(to: entry.value)
                case "choose": each(entry.value, rule)
                default: rest.apply(to: entry.value)
                }
            }
        }
        return mapped(node) { entry in
            switch entry.key {
            case "destination": whole.apply(to: entry.value)
            case "metadata":
                mapped(entry.value) { ($0.key == "set" ? whole : rest).apply(to: $0.value) }
            case "tracks": each(entry.value, rule)
            default: rest.apply(to: entry.value)
            }
        }
    }

    /// Returns an output for each track of the source if the destination at `location` contains a variable of a track, and if
    /// the tracks are known; otherwise the output itself. `decode` decodes the output of one track.
    func divided(
        _ whole: OutputDecoder.Result, at location: SourceRange?, in scope: Scope,
        decode: (Scope, Located<String>) -> OutputDecoder.Result?
    ) -> (outputs: [OutputSpec], isComplete: Bool) {
        guard let location, whole.isComplete else { return ([whole.spec], whole.isComplete) }
        guard let division = division(of: whole.spec, at: location) else { return ([whole.spec], false) }
        var undivided = whole.spec
        undivided.division = division
        let found = tracks?(division.mediaType, division.selection) ?? []
        // The planner reports both, unless a condition of the job doesn't hold.
        guard !found.isEmpty, found.count <= JobSpec.mostOutputs else { return ([undivided], true) }
        var outputs: [OutputSpec] = []
        for track in found {
            var scope = scope
            scope.track = .known(track)
            let id = Located(division.id(of: track), at: whole.spec.id?.range ?? location)
            let result = decode(scope, id)
            guard var spec = result?.spec, result?.isComplete == true else { return (outputs, false) }
            spec.division = division
            outputs.append(spec.part(for: track))
        }
        return (outputs, true)
    }

    /// The decoder before the source's tracks are known.
    var withoutTracks: JobDecoder {
        var decoder = self
        decoder.tracks = nil
        return decoder
    }

    /// Returns outputs without optional ones for which the source has no track, if others remain, and a sentence for each of
    /// those.
    func withoutOmitted(_ outputs: [OutputSpec]) -> (outputs: [OutputSpec], omissions: [String]) {
        guard let tracks else { return (outputs, []) }
        func isOmitted(_ output: OutputSpec) -> Bool {
            guard let division = output.division, output.isUndivided, division.isOptional else {
                return false
            }
            return tracks(division.mediaType, division.selection).isEmpty
        }
        let kept = outputs.filter { !isOmitted($0) }
        guard !kept.isEmpty else { return (outputs, []) }
        let omissions = outputs.filter(isOmitted).compactMap(\.division).map {
            "the output `\($0.name)` is omitted: no \($0.mediaType.rawValue) track of the source matches"
        }
        return (kept, omissions)
    }

    /// Returns the names of divided outputs, each once.
    static func dividedNames(_ outputs: [OutputSpec]) -> [String] {
        outputs.compactMap(\.division?.name).reduce(into: []) { names, name in
            if names.last != name { names.append(name) }
        }
    }

    /// Returns the division of an output by the rule that can select several tracks; nil after an error.
    private func division(of output: OutputSpec, at location: SourceRange) -> TrackDivision? {
        var groups: [Range<Int>] = []
        for (index, rule) in output.tracks.enumerated() where rule.file == nil && !rule.combinesTracks {
            let isContinued = rule.choice.map { $0.index > 0 } ?? false
            if isContinued, let last = groups.last, last.upperBound == index {
                groups[groups.count - 1] = last.lowerBound..<index + 1
            } else {
                groups.append(index..<index + 1)
            }
        }
        let several = groups.filter { output.tracks[$0.lowerBound].selection.mayIncludeSeveral }
        let candidates = several.isEmpty ? groups : several
        guard candidates.count == 1, let rules = candidates.first else {
            let problem: (message: String, help: String?) =
                if candidates.isEmpty {
                    ("`${track.…}` requires a rule that selects tracks of the source", nil)
                } else if several.isEmpty {
                    (
                        "`${track.…}` is ambiguous: \(candidates.count) rules select one track each",
                        "it refers to the only rule that can select several tracks, such as `all`"
                    )
                } else {
                    (
                        "`${track.…}` is ambiguous: \(candidates.count) rules can select several tracks",
                        "each file contains one track of a rule; give the other rules a selection of one track, such as `first`, or an output of their own"
                    )
                }
            reader.sink.error(
                .conflictingKeys, problem.message, at: location,
                notes: candidates.prefix(2).map {
                    Diagnostic.Note("a rule is here", at: output.tracks[$0.lowerBound].selection.range)
                }, help: problem.help)
            return nil
        }
        let rule = output.tracks[rules.lowerBound]
        return TrackDivision(
            name: output.id?.value ?? rule.mediaType.rawValue, mediaType: rule.mediaType,
            selection: rule.selection, isOptional: rule.isOptional,
            range: location, track: nil, rules: rules)
    }

    /// Reports a division of the outputs of a job whose source isn't a media file, or that has `publish_if`.
    func checkDivision(_ job: JobSpec) {
        guard let division = job.outputs.lazy.compactMap(\.division).first else { return }
        if let condition = job.publishIf {
            reader.sink.error(
                .conflictingKeys, "`publish_if` can't be combined with `${track.…}` in the destination",
                at: condition.range,
                notes: [Diagnostic.Note("the destination is here", at: division.range)],
                help: "it applies to the single output of a job")
        }
        let noun: String
        switch job.asset.source {
        case .file, .glob, .url, .playlist: return
        case .job: noun = "the output of another job"
        case .pattern, .images, .image, .composition, .composed: noun = job.asset.generatedNoun ?? "generated"
        }
        reader.sink.error(
            .conflictingKeys,
            "`${track.…}` requires a media file, whose tracks are known when the job is planned; the source is \(noun)",
            at: division.range, notes: [Diagnostic.Note("the source is here", at: job.asset.range)])
    }
}

extension TrackSelection {
    /// Whether the selection can include several tracks.
    fileprivate var mayIncludeSeveral: Bool {
        entries.contains { entry in
            switch entry.value {
            case .first: false
            case .all: true
            case .matching(let criteria): !criteria.isNumbered
            case .indices(let indices): indices.count > 1
            }
        }
    }
}
