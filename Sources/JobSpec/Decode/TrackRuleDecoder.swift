internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

struct TrackRuleDecoder {
    let reader: NodeReader
    let settings: SettingsResolver

    func rule(_ node: YAMLNode) -> TrackRule? {
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
            return rule(YAMLNode(.mapping(right), at: node.range))
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
            _ = rule(YAMLNode(.mapping(rest), at: node.range))
            return nil
        }
        guard let fields = reader.fields(node, as: language) else { return nil }
        let selection = SelectionDecoder(reader: reader).selection(kind.value, of: type)
        let isOptional = reader.boolean("optional", of: fields)?.value ?? false
        let action = action(fields, type)
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
        guard let selection, let action else { return nil }
        if let mix, case .copy(let copy, _) = action {
            reader.sink.error(
                .conflictingKeys, "`copy` can't be combined with `mix`, which requires decoded audio",
                at: copy,
                notes: [Diagnostic.Note("`mix` is here", at: mix.range)])
            return nil
        }
        return TrackRule(
            mediaType: type, selection: selection, action: action, mix: mix, isOptional: isOptional,
            language: trackLanguage,
            title: title, disposition: disposition, metadata: metadata, range: node.range)
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
            guard let otherwise = encoding(fields, type) else { return nil }
            return .copy(copy.keyRange, otherwise: otherwise)
        }
        return encoding(fields, type)
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
        let decoder = EncodeDecoder(reader: reader)
        if type == .video { return decoder.video(node).map { .encodeVideo($0) } }
        return decoder.audio(node).map { .encodeAudio($0) }
    }

    /// Reports further errors of an `encode` whose named settings don't exist.
    private func reportOtherErrors(_ node: YAMLNode, _ type: MediaType) {
        guard case .mapping(let entries) = node.content else { return }
        let rest = YAMLNode(.mapping(entries.filter { $0.key != "use" }), at: node.range)
        let decoder = EncodeDecoder(reader: reader, isPartial: true)
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
