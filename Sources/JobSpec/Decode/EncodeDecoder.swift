internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decoder of `encode`, into which named settings are already merged.
struct EncodeDecoder {
    let reader: NodeReader
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

    /// Returns help for an invalid frame rate: the nearest standard rate as a rational, or the syntax.
    private static func frameRateHelp(_ text: String?) -> String {
        let general = "expected a frame rate such as 25, 29.97 or 30000/1001, up to 1000"
        guard let rate = text.flatMap(Quantity.number), rate > 0, rate < 1000 else { return general }
        let nearest = (rate * 1.001).rounded()
        return abs(nearest * 1000 / 1001 - rate) < 0.001
            ? "the nearest standard rate is `\(Int(nearest) * 1000)/1001`" : general
    }

    private func bitRate(_ entry: YAMLNode.Entry?, _ what: String) -> Located<Int64>? {
        if let node = entry?.value, !node.isDeferred, let text = node.text,
            let suggestion = Quantity.bitRateWithoutUnit(text)
        {
            reader.sink.error(
                .invalidValue, "\(what) is in bits per second, and `\(text)` is too low",
                at: node.range,
                help: "did you mean `\(suggestion)`?")
            return nil
        }
        return reader.value(
            entry?.value, what, "expected a bit rate such as 128k, 2.5M or 96000, up to 1000M",
            help: { Quantity.bitRateMeant($0).map { "did you mean `\($0)`?" } }
        ) {
            Quantity.bitRate($0)
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
        let maximum = bitRate(fields["max_bitrate"], "`max_bitrate`")
        let buffer = bitRate(fields["buffer_size"], "`buffer_size`")
        let size = reader.value(
            fields.value("size"), "`size`",
            "expected a size such as 1280x720, 1280x or x720, up to 16384 per side",
            help: { Quantity.sizeMeant($0).map { "did you mean `\($0)`?" } }
        ) { Quantity.dimensions($0) }
        let fit = reader.choice("fit", of: fields, as: FrameFit.self)
        let deinterlace = reader.choice("deinterlace", of: fields, as: Deinterlacing.self)
        let format = fields["pixel_format"].flatMap { reader.pixelFormat($0.value) }
        let frames = reader.value(
            fields.value("frame_rate"), "`frame_rate`",
            Self.frameRateHelp(fields.value("frame_rate")?.text),
            help: { Quantity.frameRateMeant($0).map { "did you mean `\($0)`?" } }
        ) { Quantity.frameRate($0) }
        let aspect = reader.value(
            fields.value("pixel_aspect_ratio"), "`pixel_aspect_ratio`",
            "expected a ratio such as 1:1 or 64/45"
        ) { Quantity.ratio($0) }
        spec.rateControl = rate
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
        spec.crop = fields["crop"].flatMap { crop($0.value) }
        spec.orientation = orientation(fields)
        spec.deinterlace = deinterlace
        spec.color = fields["color"].flatMap { color($0.value) }
        spec.pixelAspectRatio = aspect
        spec.filters = text(fields["filters"], "`filters`").flatMap {
            FilterCheck.read($0, .video, into: &reader.sink)
        }
        spec.pixelFormat = format
        spec.frameRate = frames
        spec.keyframeInterval = keyframeInterval(fields)
        spec.options = options(fields["options"])
        let unknown = unknownKeys(
            fields,
            [
                "size": size == nil, "fit": fit == nil, "bitrate": rate == nil, "buffer_size": buffer == nil,
                "max_bitrate": maximum == nil, "frame_rate": frames == nil,
            ])
        EncodeCheck.checkCombinations(
            spec, codec: codec?.value, unknown: unknown, into: &reader.sink)
        guard codec != nil else { return nil }
        EncodeCheck.check(&spec, unknown: unknown, into: &reader.sink)
        return spec
    }

    /// Returns the keys without a decoded value that the job may nevertheless set: their value is invalid or not known
    /// yet, or may be in unknown settings.
    private func unknownKeys(_ fields: Fields, _ unset: [String: Bool]) -> Set<String> {
        Set(unset.filter { $0.value && (isPartial || fields.has($0.key)) }.keys)
    }

    private func rateControl(_ fields: Fields) -> Located<RateControl>? {
        if fields.has("crf") {
            return reader.thousandths("crf", of: fields).map { Located(.crf($0.value), at: $0.range) }
        }
        if fields.has("qp") {
            return reader.integer("qp", of: fields).map { Located(.qp($0.value), at: $0.range) }
        }
        if let entry = fields["bitrate"] {
            return bitRate(entry, "`bitrate`").map { Located(.bitRate($0.value), at: $0.range) }
        }
        if let value = reader.boolean("lossless", of: fields), value.value {
            return Located(.lossless, at: value.range)
        }
        return nil
    }

    private func keyframeInterval(_ fields: Fields) -> Located<KeyframeInterval>? {
        let bounds = fields.type.type(of: "keyframe_interval")?.integers ?? 1...1
        return reader.value(
            fields.value("keyframe_interval"), "`keyframe_interval`",
            "expected a number of frames (250) or a time (2s, 1500ms, 50f)"
        ) { text in
            if let frames = Int(text) { return bounds.contains(frames) ? .frames(frames) : nil }
            // A number without a unit is a number of frames, which must be an integer.
            if Double(text) != nil { return nil }
            switch TimeExpression(text) {
            case .frames(let frames):
                return Int(exactly: frames).flatMap { bounds.contains($0) ? .frames($0) : nil }
            case .absolute(let time): return time.seconds > 0 && time.seconds <= 3600 ? .time(time) : nil
            default: return nil
            }
        }
    }

    /// Decodes `crop` and `filters` of a composition's clips and layers.
    func shaping(_ fields: Fields) -> CompositionSpec.Shaping {
        var shaping = CompositionSpec.Shaping()
        shaping.crop = fields["crop"].flatMap { crop($0.value) }
        shaping.filters = text(fields["filters"], "`filters`").flatMap {
            FilterCheck.read($0, .video, into: &reader.sink)
        }
        return shaping
    }

    private func crop(_ node: YAMLNode) -> Located<CropSpec>? {
        if node.text != nil {
            return reader.word(node, as: "crop", of: Language.videoEncode).map {
                Located(.cleanAperture, at: $0.range)
            }
        }
        guard let fields = reader.fields(node, as: Language.crop) else { return nil }
        func side(_ key: String) -> Int? { reader.integer(key, of: fields)?.value }
        let (x, y) = (side("x") ?? 0, side("y") ?? 0)
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
            levels: reader.word("range", of: fields), range: node.range)
    }

    // MARK: Audio

    func audio(_ node: YAMLNode) -> AudioEncodeSpec? {
        let type = isPartial ? Language.audioEncode.partial("Settings") : Language.audioEncode
        guard let fields = reader.fields(node, as: type) else { return nil }
        let (codec, encoderRange) = selection(fields, .audio, at: node)
        let rate = bitRate(fields["bitrate"], "`bitrate`")
        let quality = reader.thousandths("quality", of: fields)
        let frequency = reader.value(
            fields.value("sample_rate"), "`sample_rate`", "expected a sample rate such as 48000 or 44.1kHz",
            help: { Quantity.frequencyMeant($0).map { "did you mean `\($0)`?" } }
        ) { Quantity.frequency($0) }
        let channels = reader.value(
            fields.value("channels"), "`channels`",
            "expected mono, stereo, 5.1, a number of channels up to 16, or a channel layout of FFmpeg",
            help: {
                ForeignWords.value($0, of: "channels", among: ["mono", "stereo", "5.1"]).map {
                    "did you mean `\($0)`?"
                }
            }
        ) { Self.layout($0) }
        let format = reader.value(
            fields.value("sample_format"), "`sample_format`",
            "expected a sample format of FFmpeg such as s16, s32 or fltp"
        ) { SampleFormat(named: $0) }
        let gain = reader.value(
            fields.value("gain"), "`gain`", "expected decibels from -60 to 60, such as -3dB or 2.5"
        ) { Quantity.decibels($0) }
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

    /// Returns the channel layout for a count or a name; nil if it is invalid.
    static func layout(_ text: String) -> ChannelLayout? {
        guard let count = Int(text) else { return ChannelLayout(named: text) }
        return Language.channels.integers?.contains(count) == true ? ChannelLayout(defaultFor: count) : nil
    }

    private func normalize(_ node: YAMLNode) -> Located<LoudnessTarget>? {
        if let text = node.text, !node.isNull, !node.isDeferred {
            let bounds = Language.normalize.type(of: "integrated")?.numbers ?? -70...(-5)
            guard Quantity.number(text).map(bounds.contains) == true else {
                let suggestion = text.lowercased().replacing("lufs", with: "").filter { $0 != " " }
                reader.sink.error(
                    .invalidValue,
                    "`normalize` can't be `\(text)`; expected a loudness in LUFS from \(Int(bounds.lowerBound)) to \(Int(bounds.upperBound)), such as -16",
                    at: node.range,
                    help: Quantity.number(suggestion).map(bounds.contains) == true && suggestion != text
                        ? "did you mean `\(suggestion)`?" : nil)
                return nil
            }
        }
        let whole = NodeMerge.expanded(node, as: Language.normalize)
        guard let fields = reader.fields(whole, as: Language.normalize) else { return nil }
        var target = LoudnessTarget()
        let before = reader.sink.errorCount
        func number(_ key: String) -> Double? {
            reader.number(key, of: fields)?.value ?? reader.defaultNumber(key, of: fields)
        }
        target.integrated = number("integrated") ?? target.integrated
        target.truePeak = number("true_peak") ?? target.truePeak
        target.range = number("range")
        target.writesTags = reader.boolean("tags", of: fields)?.value ?? false
        return reader.sink.errorCount == before ? Located(target, at: node.range) : nil
    }
}
