internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

struct ExpectDecoder {
    let reader: NodeReader

    func expectations(_ node: YAMLNode) -> [Expectation] {
        guard let fields = reader.fields(node, as: Language.expect) else { return [] }
        var list: [Expectation] = []
        func add(_ entry: YAMLNode.Entry?, _ check: Expectation.Check?) {
            if let entry, let check { list.append(Expectation(check: check, location: entry.value.range)) }
        }
        if let entry = fields["duration"] { add(entry, duration(entry.value)) }
        add(
            fields["frames"],
            reader.integer("frames", of: fields).map {
                .frames($0.value)
            })
        if let entry = fields["size"], let inner = reader.fields(entry.value, as: Language.expectSize) {
            let bytes = reader.value("max", of: inner, as: Int64.self)
            add(entry, bytes.map { .size(max: $0.value) })
        }
        for (key, type, language) in [
            ("video", MediaType.video, Language.expectVideo), ("audio", .audio, Language.expectAudio),
        ] {
            if let entry = fields[key] { list += properties(entry.value, type, language) }
        }
        if let entry = fields["loudness"] { list += loudness(entry.value) }
        for (key, make) in [
            ("silence", { Expectation.Check.silence(max: $0) }), ("black", { .black(max: $0) }),
        ] as [(String, (MediaTime) -> Expectation.Check)] {
            guard let entry = fields[key], let inner = reader.fields(entry.value, as: Language.expectLongest)
            else { continue }
            add(entry, reader.length("max", of: inner).map { make($0.value) })
        }
        if let entry = fields["similarity"] { list += similarity(entry.value) }
        if let entry = fields["decodes"], let value = reader.boolean("decodes", of: fields) {
            if value.value { add(entry, .decodes) } else { refuseFalse(entry) }
        }
        return list
    }

    private func refuseFalse(_ entry: YAMLNode.Entry) {
        reader.sink.error(
            .invalidValue, "`\(entry.key): false` has no effect; remove it", at: entry.value.range)
    }

    private func duration(_ node: YAMLNode) -> Expectation.Check? {
        let whole = NodeMerge.expanded(node, as: Language.expectDuration)
        guard let fields = reader.fields(whole, as: Language.expectDuration),
            let wanted = reader.value(
                fields.value("is"), node.text == nil ? "`is`" : "`duration`", Language.length)
        else { return nil }
        let tolerance = reader.length("within", of: fields)
        if fields.has("within"), tolerance == nil { return nil }
        return .duration(
            is: wanted.value, within: tolerance?.value ?? reader.defaultValue("within", of: fields.type))
    }

    private func properties(_ node: YAMLNode, _ type: MediaType, _ language: MappingType) -> [Expectation] {
        guard let fields = reader.fields(node, as: language), case .mapping(let entries) = node.content
        else { return [] }
        return entries.compactMap { entry in
            guard fields.has(entry.key), let property = Expectation.TrackProperty(rawValue: entry.key),
                let value = value(of: property, fields)
            else { return nil }
            return Expectation(
                check: .property(type, name: property, value: value), location: entry.value.range)
        }
    }

    /// Returns an expected value in the notation in which properties of the output are reported, for comparison; nil after
    /// an error is reported.
    private func value(of property: Expectation.TrackProperty, _ fields: Fields) -> String? {
        let key = property.rawValue
        func text<Value: CustomStringConvertible & ScalarValue>(_: Value.Type) -> String? {
            reader.value(key, of: fields, as: Value.self)?.value.description
        }
        switch property {
        case .codec: return text(String.self)
        case .width, .height: return text(Int.self)
        case .frameRate: return text(Rational.self)
        case .pixelFormat: return text(PixelFormat.self)
        case .sampleRate: return text(Int32.self)
        case .channels: return text(ChannelLayout.self)
        case .profile, .language:
            return fields.value(key).flatMap { reader.text($0, "`\(key)`") }?.value
        }
    }

    private func similarity(_ node: YAMLNode) -> [Expectation] {
        guard let fields = reader.fields(node, as: Language.expectSimilarity) else { return [] }
        return SimilarityMetric.allCases.compactMap { metric in
            guard let entry = fields[metric.rawValue],
                let inner = reader.fields(
                    entry.value, as: metric == .ssim ? Language.expectSSIM : Language.expectPSNR),
                let least = reader.number("min", of: inner)?.value
            else { return nil }
            return Expectation(check: .similarity(metric, min: least), location: entry.value.range)
        }
    }

    private func loudness(_ node: YAMLNode) -> [Expectation] {
        guard let fields = reader.fields(node, as: Language.expectLoudness) else { return [] }
        var list: [Expectation] = []
        if let entry = fields["integrated"],
            let inner = reader.fields(entry.value, as: Language.expectIntegrated),
            let wanted = reader.number("is", of: inner)?.value
        {
            let within = reader.valueOrDefault("within", of: inner, as: Double.self)
            list.append(
                Expectation(check: .loudness(is: wanted, within: within), location: entry.value.range))
        }
        if let entry = fields["true_peak"], let inner = reader.fields(entry.value, as: Language.expectPeak),
            let most = reader.number("max", of: inner)?.value
        {
            list.append(Expectation(check: .truePeak(max: most), location: entry.value.range))
        }
        return list
    }
}
