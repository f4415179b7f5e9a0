internal import Diagnostics
internal import LibAV

/// What this build's encoders say of the settings, without opening any media.
enum EncodeCheck {
    static func check(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        guard let encoder = encoder(spec.codec, into: &sink) else { return }
        rate(spec, into: &sink)
        choice(spec.preset, "preset", of: codec.presets, codec: codec, into: &sink)
        choice(spec.profile, "profile", of: codec.profiles, codec: codec, into: &sink)
        choice(spec.level, "level", of: codec.levels, codec: codec, into: &sink)
        if let format = spec.pixelFormat, !encoder.pixelFormats.isEmpty,
            !encoder.pixelFormats.contains(format.value)
        {
            sink.error(
                .codecSetting, "\(encoder.name) doesn't take the pixel format `\(format.value)`",
                at: format.range,
                help: "it takes \(encoder.pixelFormats.map(\.description).joined(separator: ", "))")
        }
        if let interval = spec.keyframeInterval, ["prores", "mjpeg"].contains(codec.name) {
            sink.error(.codecSetting, "every frame of \(codec.name) is a key frame", at: interval.range)
        }
        options(spec.options, of: encoder, owned: owned, into: &sink)
    }

    static func check(_ spec: AudioEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        guard let encoder = encoder(spec.codec, into: &sink) else { return }
        if let rate = spec.bitRate, !codec.takesBitRate {
            sink.error(.codecSetting, "\(codec.name) is lossless and takes no `bitrate`", at: rate.range)
        }
        if let rate = spec.sampleRate, !encoder.sampleRates.isEmpty, !encoder.sampleRates.contains(rate.value)
        {
            sink.error(
                .codecSetting, "\(codec.name) can't have a sample rate of \(rate.value) Hz", at: rate.range,
                help: "it takes \(encoder.sampleRates.sorted().map(String.init).joined(separator: ", "))")
        }
        if let layout = spec.channels, !encoder.layouts.isEmpty, !encoder.layouts.contains(layout.value) {
            sink.error(
                .codecSetting, "\(codec.name) can't have the layout \(layout.value)", at: layout.range,
                help: "it takes \(encoder.layouts.map(\.description).joined(separator: ", "))")
        }
        if let layout = spec.channels, codec.name == "aac", layout.value.channels > 8 {
            sink.error(.codecSetting, "aac has at most 8 channels", at: layout.range)
        }
        options(spec.options, of: encoder, owned: ["b", "ab", "ar", "ac"], into: &sink)
    }

    /// Options that have a key of their own.
    private static let owned: Set<String> = [
        "crf", "qp", "preset", "profile", "level", "b", "g", "s", "r", "pix_fmt",
    ]

    private static func encoder(_ codec: Located<CodecInfo>, into sink: inout DiagnosticSink) -> EncoderInfo?
    {
        if let encoder = codec.value.availableEncoder { return encoder }
        sink.add(
            Diagnostic(
                .error, .encoderMissing,
                "this build of FFmpeg has no encoder for \(codec.value.name) (\(codec.value.encoders.joined(separator: ", ")))",
                at: codec.range, isEnvironment: true))
        return nil
    }

    private static func rate(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        if let control = spec.rateControl {
            let name = codec.name
            switch control.value {
            case .crf(let value):
                if let highest = codec.maxCRF {
                    if value > highest * 1000 {
                        sink.error(
                            .codecSetting, "`crf` of \(name) goes from 0 to \(highest)", at: control.range)
                    } else if name == "av1", value % 1000 != 0 {
                        sink.error(.codecSetting, "`crf` of \(name) is a whole number", at: control.range)
                    }
                } else {
                    sink.error(.codecSetting, "\(name) has no `crf`", at: control.range, help: rates(codec))
                }
            case .qp(let value):
                if let range = codec.qpRange {
                    if !range.contains(value) {
                        sink.error(
                            .codecSetting,
                            "`qp` of \(name) goes from \(range.lowerBound) to \(range.upperBound)",
                            at: control.range)
                    }
                } else {
                    sink.error(.codecSetting, "\(name) has no `qp`", at: control.range, help: rates(codec))
                }
            case .bitRate:
                if !codec.takesBitRate {
                    sink.error(
                        .codecSetting, "\(name) takes no `bitrate`", at: control.range, help: rates(codec))
                }
            case .lossless:
                if !codec.canBeLossless {
                    sink.error(
                        .codecSetting, "\(name) can't be lossless here", at: control.range, help: rates(codec)
                    )
                }
            }
        }
        if let maximum = spec.maxBitRate {
            if !["h264", "hevc", "vp9"].contains(codec.name) {
                sink.error(.codecSetting, "\(codec.name) takes no `max_bitrate`", at: maximum.range)
            } else if spec.bufferSize == nil {
                sink.error(
                    .missingKey, "`max_bitrate` needs `buffer_size`: over how many bits it is held",
                    at: maximum.range)
            }
            if case .bitRate(let average)? = spec.rateControl?.value, average > maximum.value {
                sink.error(.codecSetting, "`max_bitrate` is lower than `bitrate`", at: maximum.range)
            }
            switch spec.rateControl?.value {
            case .qp, .lossless:
                sink.error(
                    .conflictingKeys, "`max_bitrate` has no effect with a constant quantiser",
                    at: maximum.range)
            default: break
            }
        } else if let buffer = spec.bufferSize {
            sink.error(.missingKey, "`buffer_size` needs `max_bitrate`", at: buffer.range)
        }
    }

    private static func rates(_ codec: CodecInfo) -> String {
        var names: [String] = []
        if codec.maxCRF != nil { names.append("crf") }
        if codec.qpRange != nil { names.append("qp") }
        if codec.takesBitRate { names.append("bitrate") }
        if codec.canBeLossless { names.append("lossless") }
        return names.isEmpty
            ? "its quality comes from `profile`" : "it takes \(names.joined(separator: ", "))"
    }

    private static func choice(
        _ value: Located<String>?, _ key: String, of allowed: [String]?, codec: CodecInfo,
        into sink: inout DiagnosticSink
    ) {
        guard let value else { return }
        guard let allowed else {
            sink.error(.codecSetting, "\(codec.name) has no `\(key)`", at: value.range)
            return
        }
        // A level of 4 may be written 4.0.
        let text =
            key == "level" && value.value.hasSuffix(".0") ? String(value.value.dropLast(2)) : value.value
        guard !allowed.contains(text) else { return }
        sink.error(
            .codecSetting, "\(codec.name) has no \(key) `\(value.value)`", at: value.range,
            help: Suggestion.help(for: value.value, among: allowed)
                ?? "its \(key)s are \(allowed.joined(separator: ", "))")
    }

    private static func options(
        _ options: [EncoderOption], of encoder: EncoderInfo, owned: Set<String>,
        into sink: inout DiagnosticSink
    ) {
        for option in options {
            let name = option.name.value
            if owned.contains(name) {
                sink.error(
                    .conflictingKeys, "`\(name)` has a key of its own beside `options`", at: option.name.range
                )
                continue
            }
            switch encoder.problem(option: name, value: option.value.value) {
            case nil: break
            case .unknown?:
                sink.error(
                    .encoderOption, "\(encoder.name) takes no option `\(name)`", at: option.name.range,
                    help: Suggestion.help(for: name, among: encoder.optionNames))
            case .value(let why)?:
                sink.error(
                    .encoderOption,
                    "\(encoder.name) doesn't take `\(option.value.value)` for `\(name)`: \(why)",
                    at: option.value.range)
            }
        }
    }
}
