internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

struct TrackRuleDecoder {
    let reader: NodeReader
    let settings: SettingsResolver

    /// Returns a rule, or one for each entry of its `choose`; nil after an error is reported, or if a value is not known
    /// yet.
    func rules(_ node: YAMLNode) -> [TrackRule]? {
        guard case .mapping(let entries) = node.content else {
            reader.sink.error(
                .wrongType,
                "a track rule must be a mapping with one of `video`, `audio`, `subtitle`, `data` or `attachment`, not \(node.kind)",
                at: node.range)
            return nil
        }
        let kinds = entries.indices.filter { Self.language(of: entries[$0].key) != nil }
        if kinds.isEmpty, let (index, kind) = Self.misspelt(entries) {
            reader.sink.error(
                .unknownKey, "a track rule has no key `\(entries[index].key)`", at: entries[index].keyRange,
                help: "did you mean `\(kind)`?")
            var right = entries
            right[index] = YAMLNode.Entry(
                key: kind, keyRange: right[index].keyRange, value: right[index].value)
            return rules(YAMLNode(.mapping(right), at: node.range))
        }
        guard let kind = kinds.first.map({ entries[$0] }), let (type, language) = Self.language(of: kind.key)
        else {
            reader.sink.error(
                .missingKey,
                "a track rule requires one of `video`, `audio`, `subtitle`, `data` or `attachment`, which selects its tracks",
                at: node.range,
                help: entries.contains { $0.value.isNull && $0.key.contains(":") }
                    ? "a key needs a space after its `:`" : "write it as `{ video: first, copy: true }`")
            return nil
        }
        if kinds.count > 1 {
            let other = entries[kinds[1]]
            reader.sink.error(
                .conflictingKeys,
                "a track rule can't select tracks of two kinds; `\(other.key)` is the second",
                at: other.keyRange,
                notes: [Diagnostic.Note("`\(kind.key)` is here", at: kind.keyRange)])
            // The remaining keys are validated as a rule of the first kind.
            let others = Set(kinds.dropFirst())
            let rest = entries.indices.filter { !others.contains($0) }.map { entries[$0] }
            _ = rules(YAMLNode(.mapping(rest), at: node.range))
            return nil
        }
        guard let fields = reader.fields(node, as: language) else { return nil }
        let selected = selected(kind.value, of: type)
        let isOptional = reader.boolean("optional", of: fields)?.value ?? false
        guard let choose = fields["choose"], let choiceType = Self.choice(of: type) else {
            return rule(fields, type, selected, isOptional: isOptional, at: node.range).map { [$0] }
        }
        return choices(choose, of: type, as: choiceType, selected, isOptional: isOptional)
    }

    /// The tracks that a rule selects: those of the source, or of a subtitle file.
    private struct Selected {
        let selection: TrackSelection
        let file: SubtitleFileSpec?
    }

    /// Returns what a rule selects; nil after an error is reported, or if a value is not known yet.
    private func selected(_ node: YAMLNode, of type: MediaType) -> Selected? {
        guard type == .subtitle else {
            return SelectionDecoder(reader: reader).selection(node, of: type).map {
                Selected(selection: $0, file: nil)
            }
        }
        let decoder = SelectionDecoder(reader: reader, language: Language.subtitleSelection)
        let selection = decoder.selection(node, of: type)
        guard case .mapping(let entries) = node.content,
            let asset = entries.first(where: { $0.key == "asset" })
        else { return selection.map { Selected(selection: $0, file: nil) } }
        let file = SubtitleFileDecoder(reader: reader, definition: settings.definition).file(asset.value)
        guard let selection, let file else { return nil }
        return Selected(selection: selection, file: file)
    }

    /// Decodes the keys of a rule, or of an entry of `choose`, besides those of the selection.
    private func rule(
        _ fields: Fields, _ type: MediaType, _ selected: Selected?, isOptional: Bool,
        at location: SourceRange
    ) -> TrackRule? {
        let action = action(fields, type)
        let conditions = ConditionDecoder(reader: reader)
        let when = fields["when"].map { (condition: conditions.source($0.value), entry: $0) }
        let trackLanguage = reader.value("language", of: fields, as: String.self)
        let title = fields["title"].flatMap { reader.text($0.value, "`title`") }
        let disposition = fields["disposition"].map {
            Located(SelectionDecoder(reader: reader).dispositions($0.value, or: "none"), at: $0.value.range)
        }
        let metadata = reader.tags(fields["metadata"])
        // In other rules, the key is already reported as unknown.
        let mix = (type == .audio ? fields["mix"] : nil).flatMap {
            MixDecoder(
                reader: reader, selection: { SelectionDecoder(reader: reader).selection($0, of: .audio) }
            ).mix($0)
        }
        let copyCondition = copyCondition(fields)
        guard let selected, let action, copyCondition.isComplete, when == nil || when?.condition != nil
        else {
            return nil
        }
        if let mix, case .copy(let copy, _) = action {
            reader.sink.error(
                .conflictingKeys, "`copy` can't be combined with `mix`, which requires decoded audio",
                at: copy,
                notes: [Diagnostic.Note("`mix` is here", at: mix.range)])
            return nil
        }
        return TrackRule(
            mediaType: type, selection: selected.selection, file: selected.file, action: action,
            when: when?.condition,
            copyCondition: copyCondition.condition, mix: mix, isOptional: isOptional,
            language: trackLanguage,
            title: title, disposition: disposition, metadata: metadata, range: location)
    }

    /// Decodes the entries of `choose` as rules.
    private func choices(
        _ entry: YAMLNode.Entry, of type: MediaType, as language: MappingType, _ selected: Selected?,
        isOptional: Bool
    ) -> [TrackRule]? {
        guard case .sequence(let items) = entry.value.content else {
            reader.sink.error(
                .wrongType, "`choose` must be a list of entries, not \(entry.value.kind)",
                at: entry.value.range,
                help: "write it as `choose: [ { when: { … }, copy: true }, { encode: { … } } ]`")
            return nil
        }
        guard
            reader.hasItems(items, atMost: Language.maxChoices, in: "`choose`", at: entry.keyRange)
        else { return nil }
        var rules: [TrackRule] = []
        var fallback: SourceRange?
        for (index, item) in items.enumerated() {
            guard let fields = reader.fields(item, as: language) else { continue }
            if let fallback {
                reader.sink.error(
                    .invalidValue,
                    "the entry is never used: an entry without `when` precedes it, and always applies",
                    at: item.range, notes: [Diagnostic.Note("that entry is here", at: fallback)],
                    help: "move the entry without `when` to the end of the list")
                continue
            }
            if !fields.has("when") { fallback = item.range }
            guard var rule = rule(fields, type, selected, isOptional: isOptional, at: item.range) else {
                continue
            }
            rule.choice = TrackRule.Choice(range: entry.keyRange, index: index, count: items.count)
            rules.append(rule)
        }
        return rules.count == items.count ? rules : nil
    }

    /// Returns the type of an entry of `choose`; nil for tracks that can only be copied.
    private static func choice(of type: MediaType) -> MappingType? {
        switch type {
        case .video: Language.videoChoice
        case .audio: Language.audioChoice
        case .subtitle: Language.subtitleChoice
        default: nil
        }
    }

    /// Returns the index of the entry whose key is probably a misspelt track type, and that type.
    private static func misspelt(_ entries: [YAMLNode.Entry]) -> (Int, String)? {
        let kinds = ["video", "audio", "subtitle", "data", "attachment"]
        let known = Language.videoTrack.keys.map(\.name)
        for (index, entry) in entries.enumerated() where !known.contains(entry.key) {
            if let kind = Suggestion.nearest(to: entry.key, among: kinds) { return (index, kind) }
        }
        return nil
    }

    /// Returns the media type that a key of a rule selects, and the keys of such a rule; nil for other keys.
    private static func language(of key: String) -> (MediaType, MappingType)? {
        switch key {
        case "video": (.video, Language.videoTrack)
        case "audio": (.audio, Language.audioTrack)
        case "subtitle": (.subtitle, Language.subtitleTrack)
        case "data": (.data, Language.dataTrack)
        case "attachment": (.attachment, Language.attachmentTrack)
        default: nil
        }
    }

    private func action(_ fields: Fields, _ type: MediaType) -> TrackRule.Action? {
        if let copy = fields["copy"] {
            // `copyCondition` decodes the conditions.
            if case .mapping = copy.value.content, Self.choice(of: type) != nil {
                guard fields.has("encode") else {
                    reader.sink.error(
                        .missingKey,
                        "`copy: { where: … }` requires `encode`, which applies to all other tracks",
                        at: copy.keyRange)
                    return nil
                }
                return encoding(fields, type, beside: copy).map { .copy(copy.keyRange, otherwise: $0) }
            }
            guard let value = reader.boolean(copy.value, "`copy`") else { return nil }
            if !value.value {
                reader.sink.error(
                    .invalidValue,
                    type == .data || type == .attachment
                        ? "`copy: false` is not allowed: \(type.rawValue) can only be copied"
                        : "`copy: false` is not allowed; use `encode`", at: value.range)
                return nil
            }
            guard fields.has("encode") else { return .copy(copy.keyRange, otherwise: nil) }
            guard let otherwise = encoding(fields, type, beside: copy) else { return nil }
            return .copy(copy.keyRange, otherwise: otherwise)
        }
        return encoding(fields, type)
    }

    /// Decodes the conditions of `copy: { where: … }`. The result is incomplete if they have errors or values that are
    /// not known yet.
    private func copyCondition(_ fields: Fields) -> (condition: TrackCondition?, isComplete: Bool) {
        guard let copy = fields["copy"], case .mapping = copy.value.content,
            let type = fields.type.mapping(of: "copy")
        else { return (nil, true) }
        guard let inner = reader.fields(copy.value, as: type), let entry = inner["where"],
            let language = type.mapping(of: "where")
        else { return (nil, false) }
        let condition = ConditionDecoder(reader: reader).track(entry.value, as: language)
        return (condition, condition != nil)
    }

    /// Decodes the encoding of tracks or parts that aren't copied.
    private func encoding(
        _ fields: Fields, _ type: MediaType, beside copy: YAMLNode.Entry
    ) -> TrackRule.Action? {
        guard let action = encoding(fields, type) else { return nil }
        guard let burn = action.video?.burn else { return action }
        reader.sink.error(
            .conflictingKeys, "`burn` can't be combined with `copy`, whose frames would have no subtitles",
            at: burn.range, notes: [Diagnostic.Note("`copy` is here", at: copy.keyRange)],
            help: "remove `copy`, or use `choose` with an entry for each")
        return nil
    }

    private func encoding(_ fields: Fields, _ type: MediaType) -> TrackRule.Action? {
        // An `encode` of data or attachments is already reported as an unknown key.
        guard let encode = fields["encode"], type != .attachment, type != .data else { return nil }
        if type == .subtitle { return subtitle(encode.value) }
        let language = type == .video ? Language.videoEncode : Language.audioEncode
        guard let node = settings.resolve(encode.value, as: language) else {
            reportOtherErrors(encode.value, type)
            return nil
        }
        let decoder = EncodeDecoder(reader: reader, definition: settings.definition)
        if type == .video { return decoder.video(node).map { .encodeVideo($0) } }
        return decoder.audio(node).map { .encodeAudio($0) }
    }

    /// Reports further errors of an `encode` whose named settings don't exist.
    private func reportOtherErrors(_ node: YAMLNode, _ type: MediaType) {
        guard case .mapping(let entries) = node.content else { return }
        let rest = YAMLNode(.mapping(entries.filter { $0.key != "use" }), at: node.range)
        let decoder = EncodeDecoder(reader: reader, definition: settings.definition, isPartial: true)
        if type == .video { _ = decoder.video(rest) } else { _ = decoder.audio(rest) }
    }

    private func subtitle(_ node: YAMLNode) -> TrackRule.Action? {
        guard let fields = reader.fields(node, as: Language.subtitleEncode),
            let word = reader.word("codec", of: fields),
            let codec = SubtitleCodec(rawValue: word.value)
        else { return nil }
        guard codec.isAvailable else {
            reader.sink.error(
                .encoderMissing, "this build of FFmpeg has no encoder for \(word.value)", at: word.range)
            return nil
        }
        return .encodeSubtitle(
            SubtitleEncodeSpec(codec: Located(codec, at: word.range), range: node.range))
    }
}
