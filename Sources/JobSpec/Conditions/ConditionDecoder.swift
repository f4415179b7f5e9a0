internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of conditions on sources.
struct ConditionDecoder {
    let reader: NodeReader

    /// Returns the conditions of `when`; nil after an error is reported, or if a value is not known yet.
    func source(_ node: YAMLNode) -> SourceCondition? { source(node, as: Language.when) }

    private func source(_ node: YAMLNode, as type: MappingType) -> SourceCondition? {
        guard let fields = reader.fields(node, as: type), case .mapping(let entries) = node.content else {
            return nil
        }
        var tests: [SourceCondition.Test] = []
        let known = entries.filter { fields.type.has($0.key) }
        for entry in known {
            let test: SourceCondition.Test? =
                switch entry.key {
                case "not":
                    (fields.type.mapping(of: "not").flatMap { source(entry.value, as: $0) }).map {
                        .not($0)
                    }
                case "video": tracks(entry.value, .video, Language.whenVideo)
                case "audio": tracks(entry.value, .audio, Language.whenAudio)
                case "subtitle": tracks(entry.value, .subtitle, Language.whenSubtitle)
                default:
                    SourceFact(rawValue: entry.key).flatMap { fact in
                        requirement(of: fact, fields).map { .source(FactTest(fact: fact, requirement: $0)) }
                    }
                }
            if let test { tests.append(test) }
        }
        guard !known.isEmpty, tests.count == known.count else { return nil }
        return SourceCondition(tests: tests, range: node.range)
    }

    private func tracks(_ node: YAMLNode, _ type: MediaType, _ language: MappingType) -> SourceCondition.Test?
    {
        guard let fields = reader.fields(node, as: language), let tests = tests(node, fields) else {
            return nil
        }
        var count: FactRequirement?
        if fields.has("count") {
            count = requirement("count", of: fields, as: Language.trackCount) { .number(Int64($0)) }
            if count == nil { return nil }
        }
        guard !fields.isEmpty else { return nil }
        return .tracks(
            TrackCount(
                mediaType: type, condition: TrackCondition(tests: tests, range: node.range), count: count))
    }

    /// Returns the conditions of `where` on tracks of a type; nil after an error is reported, or if a value is not known
    /// yet.
    func track(_ node: YAMLNode, as type: MappingType) -> TrackCondition? {
        guard let fields = reader.fields(node, as: type), !fields.isEmpty, let tests = tests(node, fields)
        else { return nil }
        return TrackCondition(tests: tests, range: node.range)
    }

    private func tests(_ node: YAMLNode, _ fields: Fields) -> [TrackCondition.Test]? {
        guard case .mapping(let entries) = node.content else { return nil }
        var tests: [TrackCondition.Test] = []
        let known = entries.filter { fields.type.has($0.key) && $0.key != "count" }
        for entry in known {
            if entry.key == "not" {
                guard let type = fields.type.mapping(of: "not"), let inner = track(entry.value, as: type)
                else { continue }
                tests.append(.not(inner))
            } else if let fact = TrackFact(rawValue: entry.key), let accepted = requirement(of: fact, fields)
            {
                tests.append(.fact(FactTest(fact: fact, requirement: accepted)))
            }
        }
        return tests.count == known.count ? tests : nil
    }

    // MARK: Values

    private func requirement(of fact: SourceFact, _ fields: Fields) -> FactRequirement? {
        let key = fact.rawValue
        switch fact {
        case .duration: return requirement(key, of: fields, as: Language.length) { .time($0) }
        case .size: return requirement(key, of: fields, as: Language.byteSize) { .number($0) }
        case .bitRate: return requirement(key, of: fields, as: Language.bitRate) { .number($0) }
        case .container: return requirement(key, of: fields, as: Language.containerName) { .name($0) }
        }
    }

    private func requirement(of fact: TrackFact, _ fields: Fields) -> FactRequirement? {
        let key = fact.rawValue
        switch fact {
        case .codec: return requirement(key, of: fields, as: Language.videoCodecName) { .name($0) }
        case .profile:
            guard let node = fields.value(key) else { return nil }
            return list(node) { reader.text($0, "`\(key)`").map { (.name($0.value.lowercased()), $0.value) } }
        case .width, .height: return requirement(key, of: fields, as: Language.side) { .number(Int64($0)) }
        case .frameRate: return requirement(key, of: fields, as: Language.frameRate) { .rate($0) }
        case .bitRate: return requirement(key, of: fields, as: Language.bitRate) { .number($0) }
        case .pixelFormat:
            return requirement(key, of: fields, as: Language.pixelFormat) { .name($0.description) }
        case .hdr, .interlaced: return requirement(key, of: fields, as: Language.boolean) { .flag($0) }
        case .rotation:
            return requirement(key, of: fields, as: Language.quarterTurn) { .number(Int64($0)) }
        case .channels:
            return requirement(key, of: fields, as: Language.channels) { .number(Int64($0.channels)) }
        case .sampleRate:
            return requirement(key, of: fields, as: Language.sampleRate) { .number(Int64($0)) }
        case .language:
            return requirement(key, of: fields, as: Language.languageTag) {
                .name(LanguageCode.canonical($0))
            }
        }
    }

    /// Reads a value, a list of values, or bounds.
    private func requirement<Value: ScalarValue>(
        _ key: String, of fields: Fields, as syntax: ValueSyntax<Value>, _ fact: (Value) -> FactValue
    ) -> FactRequirement? {
        guard let node = fields.value(key) else { return nil }
        func value(_ node: YAMLNode, _ what: String) -> FactRequirement.Value? {
            reader.value(node, what, syntax).map {
                FactRequirement.Value(value: fact($0.value), text: node.text ?? "")
            }
        }
        guard case .mapping = node.content, let bounds = fields.type.mapping(of: key) else {
            return list(node) { node in value(node, "`\(key)`").map { ($0.value, $0.text) } }
        }
        guard let inner = reader.fields(node, as: bounds), !inner.isEmpty else { return nil }
        let min = inner.value("min").flatMap { value($0, "`min`") }
        let max = inner.value("max").flatMap { value($0, "`max`") }
        guard !inner.has("min") || min != nil, !inner.has("max") || max != nil else { return nil }
        if let min, let max, !FactRequirement.between(min: min, max: nil).accepts(max.value) {
            reader.sink.error(
                .invalidValue, "`min: \(min.text)` is greater than `max: \(max.text)`; no value meets both",
                at: node.range)
            return nil
        }
        return .between(min: min, max: max)
    }

    private func list(_ node: YAMLNode, _ value: (YAMLNode) -> (FactValue, String)?) -> FactRequirement? {
        let items = reader.list(node)
        guard
            reader.hasItems(items, atMost: Language.maxFactValues, in: "the list of values", at: node.range)
        else { return nil }
        let values = items.compactMap(value).map { FactRequirement.Value(value: $0.0, text: $0.1) }
        return values.count == items.count ? .oneOf(values) : nil
    }
}
