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
            let bytes = reader.bytes(inner.value("max"), "`max`")
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
            add(entry, length(inner.value("max"), "`max`").map(make))
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

    private func length(_ node: YAMLNode?, _ what: String) -> MediaTime? {
        guard let time = reader.time(node, what, isLength: true) else { return nil }
        if case .absolute(let value) = time.value { return value }
        reader.sink.error(
            .invalidValue, "\(what) must be a time such as 90.5, 40ms or 1:40.4", at: time.range)
        return nil
    }

    private func duration(_ node: YAMLNode) -> Expectation.Check? {
        let whole = NodeMerge.expanded(node, as: Language.expectDuration)
        guard let fields = reader.fields(whole, as: Language.expectDuration),
            let wanted = length(fields.value("is"), node.text == nil ? "`is`" : "`duration`")
        else { return nil }
        var tolerance = MediaTime(value: 1, timescale: 1000)
        if let within = fields["within"] {
            guard let value = length(within.value, "`within`") else { return nil }
            tolerance = value
        }
        return .duration(is: wanted, within: tolerance)
    }

    private func properties(_ node: YAMLNode, _ type: MediaType, _ language: MappingType) -> [Expectation] {
        guard let fields = reader.fields(node, as: language), case .mapping(let entries) = node.content
        else { return [] }
        return entries.compactMap { entry in
            guard fields.has(entry.key), language.key(entry.key) != nil,
                let text = property(entry.key, entry.value)
            else { return nil }
            guard let value = Self.canonical(entry.key, text.value) else {
                reader.sink.error(
                    .invalidValue, "`\(entry.key)` can't be `\(text.value)`", at: text.range,
                    help: language.key(entry.key)?.summary)
                return nil
            }
            return Expectation(
                check: .property(type, name: entry.key, value: value), location: entry.value.range)
        }
    }

    private func property(_ key: String, _ node: YAMLNode) -> Located<String>? {
        switch key {
        case "codec": reader.codecName(node)
        case "pixel_format": reader.pixelFormat(node).map { Located($0.value.description, at: $0.range) }
        default: reader.text(node, "`\(key)`")
        }
    }

    /// Returns an expected value in the notation in which properties of the output are reported, for comparison; nil if
    /// the value is invalid.
    private static func canonical(_ key: String, _ text: String) -> String? {
        switch key {
        case "frame_rate": Quantity.frameRate(text)?.description
        case "sample_rate": Quantity.frequency(text).map { "\($0)" }
        case "width", "height":
            Int(text).flatMap { number in
                Language.expectVideo.type(of: key)?.integers?.contains(number) == true ? "\(number)" : nil
            }
        case "channels": EncodeDecoder.layout(text)?.description
        default: text
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
            let within =
                reader.number("within", of: inner)?.value ?? reader.defaultNumber("within", of: inner) ?? 0
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
