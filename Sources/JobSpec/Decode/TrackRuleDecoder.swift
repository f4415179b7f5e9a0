internal import Diagnostics
internal import LibAV
internal import Media
internal import YAMLDocument

/// Decodes one rule of `tracks` with what it says of encoding.
struct TrackRuleDecoder {
    var reader: NodeReader

    mutating func rule(_ node: YAMLNode) -> TrackRule? {
        guard case .mapping(let entries) = node.content else {
            reader.sink.error(
                .wrongType, "a track rule is a mapping that begins with `video` or `audio`, not \(node.kind)",
                at: node.range)
            return nil
        }
        let kinds = entries.filter { ["video", "audio", "subtitle", "data", "attachment"].contains($0.key) }
        guard let kind = kinds.first else {
            reader.sink.error(
                .missingKey, "a track rule begins with `video` or `audio`: which tracks it takes",
                at: node.range)
            return nil
        }
        if kinds.count > 1 {
            reader.sink.error(
                .conflictingKeys, "a track rule takes tracks of one kind; `\(kinds[1].key)` is a second one",
                at: kinds[1].keyRange,
                notes: [Diagnostic.Note("`\(kind.key)` stands here", at: kind.keyRange)])
            return nil
        }
        guard let type = MediaType(rawValue: kind.key), type == .video || type == .audio else {
            reader.sink.error(
                .notSupported,
                "`\(kind.key)` tracks are part of the job language, but this version of tandem doesn't have them yet",
                at: kind.keyRange)
            return nil
        }
        guard let keys = reader.entries(node, as: type == .video ? Language.videoTrack : Language.audioTrack)
        else { return nil }
        let selection = selection(kind.value)
        let isOptional = reader.boolean(keys["optional"]?.value, "`optional`")?.value ?? false
        let action = action(keys, type)
        guard let selection, let action else { return nil }
        return TrackRule(
            mediaType: type, selection: selection, action: action, isOptional: isOptional, range: node.range)
    }

    private mutating func action(_ keys: [String: YAMLNode.Entry], _ type: MediaType) -> TrackRule.Action? {
        if let copy = keys["copy"] {
            guard let value = reader.boolean(copy.value, "`copy`") else { return nil }
            if !value.value {
                reader.sink.error(
                    .invalidValue, "`copy: false` says nothing of what to do; use `encode`", at: value.range)
                return nil
            }
            return .copy(copy.keyRange)
        }
        guard let encode = keys["encode"] else { return nil }
        if encode.value.text != nil, !encode.value.isNull {
            reader.sink.error(
                .notSupported,
                "named settings are part of the job language, but this version of tandem doesn't have them yet",
                at: encode.value.range, help: "write the settings in place: encode: { codec: … }")
            return nil
        }
        if type == .video { return video(encode.value).map { .encodeVideo($0) } }
        return audio(encode.value).map { .encodeAudio($0) }
    }

    private mutating func selection(_ node: YAMLNode) -> Located<TrackSelection>? {
        if let text = node.text, !node.isNull {
            if text == "first" { return Located(.first, at: node.range) }
            if text == "all" { return Located(.all, at: node.range) }
            if let index = Int(text), (0...255).contains(index) {
                return Located(.matching(index: index, language: nil), at: node.range)
            }
            reader.sink.error(
                .invalidValue,
                "a selection can't be `\(text)`; it is `first`, `all`, an index from 0, or a mapping",
                at: node.range,
                help: Suggestion.help(for: text, among: ["first", "all"]))
            return nil
        }
        guard let keys = reader.entries(node, as: Language.selection) else { return nil }
        let index = reader.integer(keys["index"]?.value, "`index`", in: 0...255)
        let language = reader.value(
            keys["language"]?.value, "`language`", "it is a language code like eng or pt-BR"
        ) { text in
            (2...15).contains(text.utf8.count)
                && text.utf8.allSatisfy { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7a || $0 == 0x2d }
                ? text : nil
        }
        if keys.isEmpty {
            reader.sink.error(
                .missingKey, "the selection says nothing; it has `index` and `language`", at: node.range)
            return nil
        }
        guard (keys["index"] == nil) == (index == nil), (keys["language"] == nil) == (language == nil) else {
            return nil
        }
        return Located(.matching(index: index?.value, language: language?.value), at: node.range)
    }

    // MARK: Encoding

    private mutating func codec(_ entry: YAMLNode.Entry?, _ type: MediaType) -> Located<CodecInfo>? {
        guard let entry, let name = reader.text(entry.value, "`codec`") else { return nil }
        if let codec = CodecCatalog.codec(name.value, of: type) { return Located(codec, at: name.range) }
        let names = CodecCatalog.names(of: type)
        let other: MediaType = type == .video ? .audio : .video
        let isOther = CodecCatalog.codec(name.value, of: other) != nil
        reader.sink.error(
            .unknownCodec,
            isOther
                ? "`\(name.value)` is a codec for \(other.rawValue), not \(type.rawValue)"
                : "there is no \(type.rawValue) codec `\(name.value)`",
            at: name.range,
            help: Self.alias(name.value).map { "did you mean `\($0)`?" } ?? Suggestion.help(
                for: name.value, among: names)
                ?? "the \(type.rawValue) codecs are \(names.joined(separator: ", "))")
        return nil
    }

    /// What people call them elsewhere.
    private static func alias(_ name: String) -> String? {
        [
            "libx264": "h264", "x264": "h264", "avc": "h264", "h.264": "h264", "libx265": "hevc",
            "x265": "hevc", "h265": "hevc",
            "h.265": "hevc", "libvpx-vp9": "vp9", "libaom-av1": "av1", "libsvtav1": "av1", "libopus": "opus",
            "libmp3lame": "mp3", "ac-3": "ac3", "pcm": "pcm_s16le", "wav": "pcm_s16le", "libfdk_aac": "aac",
        ][name.lowercased()]
    }

    private mutating func options(_ entry: YAMLNode.Entry?) -> [EncoderOption] {
        guard let entry else { return [] }
        guard case .mapping(let entries) = entry.value.content else {
            reader.sink.error(
                .wrongType, "`options` is a mapping, not \(entry.value.kind)", at: entry.value.range)
            return []
        }
        return entries.compactMap { option in
            reader.text(option.value, "`\(option.key)`").map {
                EncoderOption(name: Located(option.key, at: option.keyRange), value: $0)
            }
        }
    }

    private mutating func bitRate(_ entry: YAMLNode.Entry?, _ what: String) -> Located<Int64>? {
        reader.value(entry?.value, what, "it is written like 128k, 2.5M or 96000, up to 1000M") {
            Quantity.bitRate($0)
        }
    }

    private mutating func video(_ node: YAMLNode) -> VideoEncodeSpec? {
        guard let keys = reader.entries(node, as: Language.videoEncode) else { return nil }
        let codec = codec(keys["codec"], .video)
        let before = reader.sink.diagnostics.count
        var spec = codec.map { VideoEncodeSpec(codec: $0, options: [], range: node.range) }
        let rate = rateControl(keys)
        let maximum = bitRate(keys["max_bitrate"], "`max_bitrate`")
        let buffer = bitRate(keys["buffer_size"], "`buffer_size`")
        let preset = keys["preset"].flatMap { reader.text($0.value, "`preset`") }
        let profile = keys["profile"].flatMap { reader.text($0.value, "`profile`") }
        let level = keys["level"].flatMap { reader.text($0.value, "`level`") }
        let size = reader.value(
            keys["size"]?.value, "`size`", "it is written like 1280x720, 1280x or x720, up to 16384"
        ) {
            Quantity.dimensions($0)
        }
        let format = pixelFormat(keys["pixel_format"])
        let frames = reader.value(
            keys["frame_rate"]?.value, "`frame_rate`",
            "it is written like 25, 29.97 or 30000/1001, up to 1000"
        ) {
            Quantity.frameRate($0)
        }
        let interval = keyframeInterval(keys["keyframe_interval"])
        let options = options(keys["options"])
        spec?.rateControl = rate
        spec?.maxBitRate = maximum
        spec?.bufferSize = buffer
        spec?.preset = preset
        spec?.profile = profile
        spec?.level = level
        spec?.size = size
        spec?.pixelFormat = format
        spec?.frameRate = frames
        spec?.keyframeInterval = interval
        spec?.options = options
        if let spec, reader.sink.diagnostics.count == before { EncodeCheck.check(spec, into: &reader.sink) }
        return spec
    }

    private mutating func rateControl(_ keys: [String: YAMLNode.Entry]) -> Located<RateControl>? {
        if let entry = keys["crf"] {
            return reader.value(entry.value, "`crf`", "it is a number from 0 to 63") { text in
                Quantity.scaled(text, by: 1000).flatMap { $0 <= 63_000 ? .crf(Int($0)) : nil }
            }
        }
        if let entry = keys["qp"] {
            return reader.integer(entry.value, "`qp`", in: 0...63).map {
                Located(.qp($0.value), at: $0.range)
            }
        }
        if let entry = keys["bitrate"] {
            return bitRate(entry, "`bitrate`").map { Located(.bitRate($0.value), at: $0.range) }
        }
        if let entry = keys["lossless"], let value = reader.boolean(entry.value, "`lossless`"), value.value {
            return Located(.lossless, at: value.range)
        }
        return nil
    }

    private mutating func pixelFormat(_ entry: YAMLNode.Entry?) -> Located<PixelFormat>? {
        guard let entry, let name = reader.text(entry.value, "`pixel_format`") else { return nil }
        if let format = PixelFormat(named: name.value) { return Located(format, at: name.range) }
        reader.sink.error(
            .invalidValue, "there is no pixel format `\(name.value)`", at: name.range,
            help: Suggestion.help(
                for: name.value,
                among: [
                    "yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "yuv444p10le", "yuvj420p",
                    "nv12", "gray", "rgb24",
                ]))
        return nil
    }

    private mutating func keyframeInterval(_ entry: YAMLNode.Entry?) -> Located<KeyframeInterval>? {
        reader.value(
            entry?.value, "`keyframe_interval`", "it is a count of frames (250), or a time (2s, 1500ms, 50f)"
        ) { text in
            if let frames = Int(text) { return (1...100_000).contains(frames) ? .frames(frames) : nil }
            switch TimeExpression(text) {
            case .frames(let frames): return frames >= 1 && frames <= 100_000 ? .frames(Int(frames)) : nil
            case .absolute(let time): return time.seconds > 0 && time.seconds <= 3600 ? .time(time) : nil
            default: return nil
            }
        }
    }

    private mutating func audio(_ node: YAMLNode) -> AudioEncodeSpec? {
        guard let keys = reader.entries(node, as: Language.audioEncode) else { return nil }
        let codec = codec(keys["codec"], .audio)
        let before = reader.sink.diagnostics.count
        let rate = bitRate(keys["bitrate"], "`bitrate`")
        let frequency = reader.value(
            keys["sample_rate"]?.value, "`sample_rate`", "it is written like 48000 or 44.1kHz"
        ) {
            Quantity.frequency($0)
        }
        let channels = reader.value(
            keys["channels"]?.value, "`channels`",
            "it is mono, stereo, 5.1, a count from 1 to 16, or a layout as libav names it"
        ) { text -> ChannelLayout? in
            if let count = Int(text) {
                return (1...16).contains(count) ? ChannelLayout(defaultFor: count) : nil
            }
            return ChannelLayout(named: text)
        }
        let options = options(keys["options"])
        guard let codec else { return nil }
        let spec = AudioEncodeSpec(
            codec: codec, bitRate: rate, sampleRate: frequency, channels: channels, options: options,
            range: node.range)
        if reader.sink.diagnostics.count == before { EncodeCheck.check(spec, into: &reader.sink) }
        return spec
    }
}
