internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of `encode`, into which named settings are already merged.
struct EncodeDecoder {
    let reader: NodeReader
    /// The assets to which `burn` refers; nil for the parts of a composition, which have no `burn`.
    var definition: BatchDefinition? = nil
    /// Whether the settings of `use` are unknown, so that they may contain any key that the node lacks.
    var isPartial = false

    private func codec(_ entry: YAMLNode.Entry?, _ type: MediaType, at node: YAMLNode) -> Located<
        CodecSelection
    >? {
        guard let entry else {
            if !isPartial {
                reader.sink.error(
                    .missingKey, "`codec` is missing here and in the settings of `use`",
                    at: node.range,
                    help: "add a codec, for example `codec: \(CodecCatalog.names(of: type)[0])`")
            }
            return nil
        }
        guard let name = reader.text(entry.value, "`codec`") else { return nil }
        if let codec = CodecCatalog.codec(name.value, of: type) { return Located(codec, at: name.range) }
        let names = CodecCatalog.names(of: type)
        let other: MediaType = type == .video ? .audio : .video
        let isOther = CodecCatalog.codec(name.value, of: other) != nil
        reader.sink.error(
            .unknownCodec,
            isOther
                ? "`\(name.value)` is a codec for \(other.rawValue), not \(type.rawValue)"
                : "unknown \(type.rawValue) codec `\(name.value)`",
            at: name.range,
            help: ForeignWords.help(codec: name.value.lowercased(), type)
                ?? CodecCatalog.alias(name.value).map { "did you mean `\($0)`?" } ?? Suggestion.help(
                    for: name.value, among: names)
                ?? "expected one of \(names.joined(separator: ", "))")
        return nil
    }

    /// Returns the codec with the encoder that the job sets, and the location of `encoder`. The codec is nil if either
    /// value is invalid or not known yet.
    private func selection(
        _ fields: Fields, _ type: MediaType, at node: YAMLNode
    ) -> (codec: Located<CodecSelection>?, encoder: SourceRange?) {
        let codec = codec(fields["codec"], type, at: node)
        guard let entry = fields["encoder"] else { return (codec, nil) }
        guard let name = reader.text(entry.value, "`encoder`") else { return (nil, nil) }
        guard let found = CodecCatalog.encoder(name.value, of: type) else {
            unknownEncoder(name, type, codec: codec?.value.codec)
            return (nil, nil)
        }
        guard let codec else { return (nil, nil) }
        guard found.codec.name == codec.value.name else {
            reader.sink.error(
                .conflictingKeys,
                "`\(name.value)` is an encoder of \(found.name), and `codec` is \(codec.value.name)",
                at: name.range, notes: [Diagnostic.Note("`codec` is here", at: codec.range)],
                help: Self.list(codec.value.codec))
            return (nil, nil)
        }
        return (Located(found, at: codec.range), name.range)
    }

    private func unknownEncoder(_ name: Located<String>, _ type: MediaType, codec: CodecModel?) {
        let other: MediaType = type == .video ? .audio : .video
        let isOther = CodecCatalog.encoder(name.value, of: other) != nil
        let names = codec?.encoders.map(\.name) ?? CodecCatalog.encoderNames(of: type)
        reader.sink.error(
            .unknownEncoder,
            isOther
                ? "`\(name.value)` is an encoder for \(other.rawValue), not \(type.rawValue)"
                : "unknown \(type.rawValue) encoder `\(name.value)`", at: name.range,
            help: EncoderModel.table.first { $0.aliases.contains(name.value.lowercased()) }.map {
                "did you mean `\($0.name)`?"
            } ?? Suggestion.help(for: name.value, among: names)
                ?? Suggestion.help(for: name.value, among: CodecCatalog.encoderNames(of: type))
                ?? codec.map(Self.list)
                ?? "expected one of \(names.joined(separator: ", "))")
    }

    private static func list(_ codec: CodecModel) -> String {
        let names = codec.encoders.map(\.name)
        return names.count == 1
            ? "the only encoder of \(codec.name) is \(names[0])"
            : "the encoders of \(codec.name) are \(names.joined(separator: ", "))"
    }

    private func options(_ entry: YAMLNode.Entry?) -> [EncoderOption] {
        guard let entry else { return [] }
        guard case .mapping(let entries) = entry.value.content else {
            reader.sink.error(
                .wrongType, "`options` must be a mapping, not \(entry.value.kind)", at: entry.value.range,
                help: "write it as `options: { aq-mode: 2 }`")
            return []
        }
        return entries.compactMap { option in
            reader.text(option.value, "`\(option.key)`").map {
                EncoderOption(name: Located(option.key, at: option.keyRange), value: $0)
            }
        }
    }

    private func text(_ entry: YAMLNode.Entry?, _ what: String) -> Located<String>? {
        entry.flatMap { reader.text($0.value, what) }
    }

    // MARK: Video

    func video(_ node: YAMLNode) -> VideoEncodeSpec? {
        let type = isPartial ? Language.videoEncode.partial("Settings") : Language.videoEncode
        guard let fields = reader.fields(node, as: type) else { return nil }
        let (codec, encoderRange) = selection(fields, .video, at: node)
        // The other settings are decoded, and checked against each other, even without a codec.
        var spec = VideoEncodeSpec(
            codec: codec ?? Located(CodecCatalog.imageCodecs[0], at: node.range), options: [],
            range: node.range)
        spec.encoderRange = encoderRange
        let rate = rateControl(fields)
        let maximum = reader.value("max_bitrate", of: fields, as: Int64.self)
        let buffer = reader.value("buffer_size", of: fields, as: Int64.self)
        let size = reader.value("size", of: fields, as: Dimensions.self)
        let fit = reader.choice("fit", of: fields, as: FrameFit.self)
        let deinterlace = reader.choice("deinterlace", of: fields, as: Deinterlacing.self)
        let format = reader.value("pixel_format", of: fields, as: PixelFormat.self)
        let frames = reader.value("frame_rate", of: fields, as: Rational.self)
        let aspect = reader.value("pixel_aspect_ratio", of: fields, as: Rational.self)
        spec.rateControl = rate
        spec.targetSize = reader.value("target_size", of: fields, as: Int64.self)
        spec.scale = reader.choice("scale", of: fields, as: FrameScaling.self)
        spec.quality = fields["quality"].flatMap { quality($0.value) }
        spec.maxBitRate = maximum
        spec.bufferSize = buffer
        spec.passes = reader.integer("passes", of: fields)
        spec.bFrames = reader.integer("b_frames", of: fields)
        spec.preset = text(fields["preset"], "`preset`")
        spec.tune = text(fields["tune"], "`tune`")
        spec.profile = text(fields["profile"], "`profile`")
        spec.level = text(fields["level"], "`level`")
        spec.size = size
        spec.fit = fit
        spec.crop = fields["crop"].flatMap { crop($0.value, of: Language.videoEncode) }
        spec.orientation = orientation(fields)
        spec.deinterlace = deinterlace
        spec.color = fields["color"].flatMap { color($0.value) }
        spec.pixelAspectRatio = aspect
        spec.filters = text(fields["filters"], "`filters`").flatMap {
            FilterCheck.read($0, .video, into: &reader.sink)
        }
        spec.pixelFormat = format
        spec.frameRate = frames
        spec.keyframeInterval = reader.value("keyframe_interval", of: fields)
        spec.parallel = reader.value("parallel", of: fields)
        spec.options = options(fields["options"])
        if let entry = fields["burn"], let definition {
            spec.burn = BurnDecoder(reader: reader).burn(entry.value, definition)
        }
        let unknown = unknownKeys(
            fields,
            [
                .size: size == nil,
                .bitrate: rate == nil && spec.targetSize == nil && spec.quality == nil,
                .bufferSize: buffer == nil, .maxBitRate: maximum == nil, .frameRate: frames == nil,
                .targetSize: spec.targetSize == nil,
            ])
        EncodeCheck.checkCombinations(
            spec, codec: codec?.value, unknown: unknown, into: &reader.sink)
        guard codec != nil else { return nil }
        EncodeCheck.check(&spec, unknown: unknown, into: &reader.sink)
        return spec
    }

    /// Returns the keys without a decoded value that the job may nevertheless set: their value is invalid or not known
    /// yet, or may be in unknown settings.
    private func unknownKeys(_ fields: Fields, _ unset: [EncodeKey: Bool]) -> Set<EncodeKey> {
        Set(unset.filter { $0.value && (isPartial || fields.has($0.key.rawValue)) }.keys)
    }

    private func rateControl(_ fields: Fields) -> Located<RateSetting>? {
        if fields.has("crf") {
            return reader.thousandths("crf", of: fields).map { Located(.crf($0.value), at: $0.range) }
        }
        if fields.has("qp") {
            return reader.integer("qp", of: fields).map { Located(.qp($0.value), at: $0.range) }
        }
        if fields.has("bitrate") {
            return reader.value("bitrate", of: fields, as: Int64.self).map {
                Located(.bitRate($0.value), at: $0.range)
            }
        }
        if let value = reader.boolean("lossless", of: fields), value.value {
            return Located(.lossless, at: value.range)
        }
        return nil
    }

    private func quality(_ node: YAMLNode) -> Located<QualitySpec>? {
        guard let fields = reader.fields(node, as: Language.videoQuality) else { return nil }
        let before = reader.sink.errorCount
        let pool = reader.choiceOrDefault("pool", of: fields, as: SimilarityPool.self)
        let within = reader.number("within", of: fields)
        let crf = fields["crf"].flatMap { bounds($0.value) }
        guard
            let metric = SimilarityMetric.allCases.first(where: { fields.has($0.rawValue) }),
            let value = reader.number(metric.rawValue, of: fields), reader.sink.errorCount == before
        else { return nil }
        if metric == .ssim, let within, within.value > 0.1 {
            reader.sink.error(.invalidValue, "`within` of `ssim` must be at most 0.1", at: within.range)
            return nil
        }
        return Located(
            QualitySpec(
                metric: metric, value: value.value, pool: pool,
                within: within?.value ?? QualitySpec.defaultWithin(metric), crf: crf?.value,
                crfRange: crf?.range), at: node.range)
    }

    /// Decodes the minimum and maximum of `crf`.
    private func bounds(_ node: YAMLNode) -> Located<ClosedRange<Int>>? {
        let items = reader.list(node)
        let values = items.compactMap { reader.value($0, "`crf`", Language.crfBound)?.value.count }
        guard values.count == items.count else { return nil }
        guard values.count == 2, values[0] < values[1] else {
            reader.sink.error(
                .invalidValue, "`crf` of `quality` must be a list of a minimum and a greater maximum",
                at: node.range, help: "write it as `crf: [16, 32]`")
            return nil
        }
        return Located(values[0]...values[1], at: node.range)
    }

    /// Decodes `crop` and `filters` of a composition's clips and layers.
    func shaping(_ fields: Fields) -> CompositionSpec.Shaping {
        var shaping = CompositionSpec.Shaping()
        shaping.crop = fields["crop"].flatMap { crop($0.value, of: Language.clip) }
        shaping.filters = text(fields["filters"], "`filters`").flatMap {
            FilterCheck.read($0, .video, into: &reader.sink)
        }
        return shaping
    }

    /// Decodes `crop` of a mapping type, which determines the allowed words.
    private func crop(_ node: YAMLNode, of type: MappingType) -> Located<CropSpec>? {
        if node.text != nil {
            return reader.word(node, as: "crop", of: type).flatMap { word in
                CropWord(rawValue: word.value).map { known in
                    let crop: CropSpec =
                        switch known {
                        case .auto: .auto
                        case .cleanAperture: .cleanAperture
                        }
                    return Located(crop, at: word.range)
                }
            }
        }
        guard let fields = reader.fields(node, as: Language.crop) else { return nil }
        func side(_ key: String) -> Int? { reader.integer(key, of: fields)?.value }
        let x = reader.valueOrDefault("x", of: fields, as: Int.self)
        let y = reader.valueOrDefault("y", of: fields, as: Int.self)
        guard let width = side("width"), let height = side("height") else { return nil }
        return Located(
            .rectangle(PixelRectangle(x: x, y: y, width: width, height: height)), at: node.range)
    }

    private func orientation(_ fields: Fields) -> Located<OrientationSpec>? {
        reader.word("orientation", of: fields).map { word in
            let spec: OrientationSpec =
                switch word.value {
                case "keep": .keep
                case "bake": .bake
                default: .angle(Int(word.value) ?? 0)
                }
            return Located(spec, at: word.range)
        }
    }

    private func color(_ node: YAMLNode) -> ColorSpec? {
        if node.text != nil {
            return reader.word(node, as: "color", of: Language.videoEncode).map {
                let standard = Located("bt709", at: $0.range)
                return ColorSpec(
                    primaries: standard, transfer: standard, matrix: standard, levels: nil,
                    isForHighRangeAlone: true, range: $0.range)
            }
        }
        guard let fields = reader.fields(node, as: Language.color) else { return nil }
        func name(_ key: String, _ kind: ColorDescription.Part) -> Located<String>? {
            guard let name = text(fields[key], "`\(key)`") else { return nil }
            if ColorDescription.names(of: kind).contains(name.value) { return name }
            reader.sink.error(
                .invalidValue, "unknown \(key) `\(name.value)`", at: name.range,
                help: Suggestion.help(for: name.value, among: ColorDescription.names(of: kind))
                    ?? "expected one of \(ColorDescription.names(of: kind).joined(separator: ", "))")
            return nil
        }
        return ColorSpec(
            primaries: name("primaries", .primaries), transfer: name("transfer", .transfer),
            matrix: name("matrix", .matrix),
            levels: reader.choice("range", of: fields), range: node.range)
    }

    // MARK: Audio

    func audio(_ node: YAMLNode) -> AudioEncodeSpec? {
        let type = isPartial ? Language.audioEncode.partial("Settings") : Language.audioEncode
        guard let fields = reader.fields(node, as: type) else { return nil }
        let (codec, encoderRange) = selection(fields, .audio, at: node)
        let rate = reader.value("bitrate", of: fields, as: Int64.self)
        let quality = reader.thousandths("quality", of: fields)
        let frequency = reader.value("sample_rate", of: fields, as: Int32.self)
        let channels = reader.value("channels", of: fields, as: ChannelLayout.self)
        let format = reader.value("sample_format", of: fields, as: SampleFormat.self)
        let gain = reader.thousandths("gain", of: fields)
        // The other settings are decoded even without a codec.
        var spec = AudioEncodeSpec(
            codec: codec ?? Located(CodecCatalog.audio[0], at: node.range),
            options: options(fields["options"]), range: node.range)
        spec.encoderRange = encoderRange
        spec.bitRate = rate
        spec.quality = quality
        spec.profile = text(fields["profile"], "`profile`")
        spec.sampleRate = frequency
        spec.channels = channels
        spec.sampleFormat = format
        spec.bitDepth = reader.integer("bit_depth", of: fields)
        spec.gain = gain
        spec.normalize = fields["normalize"].flatMap { normalize($0.value) }
        spec.filters = text(fields["filters"], "`filters`").flatMap {
            FilterCheck.read($0, .audio, into: &reader.sink)
        }
        guard codec != nil else { return nil }
        EncodeCheck.check(&spec, into: &reader.sink)
        return spec
    }

    private func normalize(_ node: YAMLNode) -> Located<NormalizationSpec>? {
        if node.text != nil, !node.isNull, !node.isDeferred,
            reader.value(node, "`normalize`", Language.targetLoudness) == nil
        {
            return nil
        }
        let whole = NodeMerge.expanded(node, as: Language.normalize)
        guard let fields = reader.fields(whole, as: Language.normalize) else { return nil }
        var spec = NormalizationSpec()
        let before = reader.sink.errorCount
        spec.target.integrated = reader.valueOrDefault("integrated", of: fields)
        spec.target.truePeak = reader.valueOrDefault("true_peak", of: fields)
        spec.target.range = reader.number("range", of: fields)?.value
        spec.target.writesTags = reader.valueOrDefault("tags", of: fields)
        spec.group = reader.choice("group", of: fields, as: NormalizationGroup.self)
        if spec.sharesGain { checkSharedGain(spec.target, fields) }
        return reader.sink.errorCount == before ? Located(spec, at: node.range) : nil
    }

    /// Reports settings that are determined for each file alone, beside a gain that several files share.
    private func checkSharedGain(_ target: LoudnessTarget, _ fields: Fields) {
        for (key, isSet) in [("range", target.range != nil), ("tags", target.writesTags)] where isSet {
            guard let entry = fields[key], let group = fields["group"] else { continue }
            reader.sink.error(
                .conflictingKeys,
                "`\(key)` can't be combined with `group: job`, which changes all files by the same gain",
                at: entry.keyRange, notes: [Diagnostic.Note("`group` is here", at: group.keyRange)],
                help: "remove `\(key)`, or normalize each file with `group: file`")
        }
    }
}
