internal import Diagnostics
internal import LibAV
internal import Media

/// Validation of encoder settings against the encoders of this build, without opening media.
enum EncodeCheck {
    /// Checks the settings against the codec and its encoder. `unknown` contains keys that the job may set although the
    /// spec lacks their values, because they are invalid or not known yet.
    static func check(
        _ spec: inout VideoEncodeSpec, unknown: Set<String>, into sink: inout DiagnosticSink
    ) {
        let (codec, before) = (spec.codec.value, sink.errorCount)
        guard let encoder = encoder(spec.codec, named: spec.encoderRange, into: &sink) else { return }
        checkRateControl(spec, into: &sink)
        checkChoice(spec.preset, "preset", of: codec.presets, codec: codec, into: &sink)
        checkChoice(spec.profile, "profile", of: codec.profileNames, codec: codec, into: &sink)
        checkChoice(spec.level, "level", of: codec.levels, codec: codec, into: &sink)
        let formats = codec.pixelFormats(of: encoder)
        if let format = spec.pixelFormat, !formats.isEmpty, !formats.contains(format.value) {
            sink.error(
                .codecSetting, "the pixel format `\(format.value)` is not supported by \(encoder.name)",
                at: format.range,
                help: "supported: \(formats.map(\.description).joined(separator: ", "))")
        }
        checkChoice(spec.tune, "tune", of: codec.tunes, codec: codec, into: &sink)
        checkColor(spec, encoder: encoder, into: &sink)
        checkPasses(spec, unknown: unknown, into: &sink)
        checkBFrames(spec, into: &sink)
        if let interval = spec.keyframeInterval, !codec.acceptsKeyframeInterval {
            sink.error(
                .codecSetting,
                "`keyframe_interval` is not supported by \(codec.label): every frame is a keyframe",
                at: interval.range)
        }
        checkOptions(
            &spec.options, of: encoder,
            excluding: optionsWithKeys.union(codec.keysOfOptions.keys).subtracting(
                EncoderOptionCatalog.options(of: encoder.name).names), into: &sink)
        if let check = availabilityCheck(codec, encoder, at: spec.encoderRange) { spec.checks.append(check) }
        // The dry open of invalid settings would only repeat the error.
        if sink.errorCount == before, let check = trial(spec, encoder: encoder) { spec.checks.append(check) }
        if let filters = spec.filters { spec.checks.append(self.check(filters, .video)) }
    }

    /// Checks `passes: 2` against the codec, the rate control, the frame rate and the preset.
    private static func checkPasses(
        _ spec: VideoEncodeSpec, unknown: Set<String>, into sink: inout DiagnosticSink
    ) {
        guard let passes = spec.passes, passes.value == 2 else { return }
        let codec = spec.codec.value
        if !codec.supportsTwoPasses {
            sink.error(.codecSetting, "`passes: 2` is not supported by \(codec.label)", at: passes.range)
        } else if case .bitRate? = spec.rateControl?.value {
            if codec.countsFramesInTwoPasses, spec.frameRate == nil, !unknown.contains("frame_rate") {
                sink.error(
                    .missingKey,
                    "`passes: 2` of \(codec.label) requires `frame_rate`, because the encoder counts frames",
                    at: passes.range)
            }
            if let preset = presetOfOnePass(spec) {
                let others = (codec.presets ?? []).filter { !codec.presetsOfOnePass.contains($0) }
                sink.error(
                    .conflictingKeys,
                    "`passes: 2` can't be combined with the preset `\(preset.value)` of \(codec.label)",
                    at: passes.range,
                    notes: [Diagnostic.Note("the preset is here", at: preset.range)],
                    help:
                        "presets that support two passes: \(others.map { "`\($0)`" }.joined(separator: ", "))"
                )
            }
        } else if !unknown.contains("bitrate") {
            let constant: String? =
                switch spec.rateControl?.value {
                case .crf: "crf"
                case .qp: "qp"
                case .lossless: "lossless"
                default: nil
                }
            sink.error(
                .codecSetting,
                "`passes: 2` requires `bitrate`"
                    + (constant.map { "; with `\($0)` one pass is enough" } ?? ""), at: passes.range)
        }
    }

    /// Checks `b_frames` against the profile and the codec.
    private static func checkBFrames(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        if let frames = spec.bFrames, let profile = spec.profile, frames.value > 0,
            codec.profiles?.first(where: { $0.name == profile.value })?.hasBFrames == false
        {
            sink.error(
                .conflictingKeys, "`b_frames` must be 0 with the profile \(profile.value)", at: frames.range,
                notes: [Diagnostic.Note("the profile is here", at: profile.range)])
        }
        if let frames = spec.bFrames {
            if let most = codec.maxBFrames {
                if frames.value > most {
                    sink.error(
                        .codecSetting, "`b_frames` of \(codec.label) must be from 0 to \(most)",
                        at: frames.range
                    )
                }
            } else {
                sink.error(.codecSetting, "`b_frames` is not supported by \(codec.label)", at: frames.range)
            }
        }
    }

    private static func check(_ filters: Located<FilterChain>, _ type: MediaType) -> SettingsCheck {
        SettingsCheck(
            trial: .filters(filters.value, type), message: "can't configure the filters", rule: .filterChain,
            range: filters.range)
    }

    /// Returns the dry open of the encoder with these settings, at 640x360 unless the job sets a size; nil if none is
    /// needed.
    private static func trial(_ spec: VideoEncodeSpec, encoder: EncoderInfo) -> SettingsCheck? {
        // Settings that the tables cover need no dry open, which is slow for x265 and SVT-AV1.
        guard !spec.options.isEmpty || spec.profile != nil && spec.pixelFormat != nil else { return nil }
        // Without `pixel_format`, the format depends on the source, and a profile may not support every format.
        guard spec.profile == nil || spec.pixelFormat != nil else { return nil }
        let codec = spec.codec.value
        var configuration = plainConfiguration(codec, encoder)
        configuration.width = spec.size?.value.width ?? configuration.width
        configuration.height = spec.size?.value.height ?? configuration.height
        if configuration.width % 2 != 0 { configuration.width += 1 }
        if configuration.height % 2 != 0 { configuration.height += 1 }
        if let format = spec.pixelFormat { configuration.pixelFormat = format.value }
        if let preset = spec.preset { configuration.set(preset.value, at: codec.presetOption) }
        if let profile = spec.profile { configuration.set(profile.value, at: .option("profile")) }
        if let tune = spec.tune { configuration.set(tune.value, at: codec.tuneOption) }
        for setting in codec.always { configuration.set(setting.value, at: setting.option) }
        for option in spec.options {
            if let parameters = option.parameters {
                for entry in parameters {
                    configuration.set(entry.key, to: entry.value, in: option.name.value)
                }
            } else {
                configuration.options.append(
                    MetadataEntry(key: option.name.value, value: option.value.value))
            }
        }
        return SettingsCheck(
            trial: .encoder(configuration), precondition: availability(spec.codec.value, encoder),
            message: "\(encoder.name) can't be opened with these settings", rule: .codecSetting,
            range: spec.options.first?.name.range ?? spec.profile?.range ?? spec.range)
    }

    /// Returns the dry open that determines whether an encoder is available on this machine; nil for the codec's
    /// automatic encoder, which is a software encoder and requires no device.
    private static func availability(_ codec: CodecSelection, _ encoder: EncoderInfo) -> SettingsValidation? {
        guard !codec.isAutomatic else { return nil }
        var configuration = plainConfiguration(codec, encoder)
        for setting in codec.always { configuration.set(setting.value, at: setting.option) }
        return .encoder(configuration)
    }

    private static func availabilityCheck(
        _ codec: CodecSelection, _ encoder: EncoderInfo, at range: SourceRange?
    ) -> SettingsCheck? {
        guard let range, let trial = availability(codec, encoder) else { return nil }
        return SettingsCheck(
            trial: trial, message: "\(encoder.name) is not available on this machine",
            rule: .encoderMissing, range: range,
            help: codec.requirement == nil
                ? nil
                : "sandboxed workers can't access hardware devices; `--no-sandbox` disables the sandbox",
            isEnvironment: true)
    }

    /// Returns a minimal configuration: a pixel or sample format that the encoder accepts, 640x360 at 25 fps or
    /// preferably 48 kHz, and no other settings.
    private static func plainConfiguration(
        _ codec: CodecSelection, _ encoder: EncoderInfo
    ) -> EncoderConfiguration {
        guard codec.mediaType == .video else {
            let rate = encoder.sampleRates.contains(48_000) ? 48_000 : encoder.sampleRates.first ?? 48_000
            var configuration = EncoderConfiguration(
                encoder: encoder.name, mediaType: .audio, timeBase: Rational(1, rate))
            configuration.sampleRate = rate
            configuration.sampleFormat = encoder.sampleFormats.first ?? .none
            let layouts = codec.layouts(of: encoder)
            configuration.channelLayout = layouts.contains(.stereo) ? .stereo : layouts.first ?? .stereo
            return configuration
        }
        let formats = codec.pixelFormats(of: encoder)
        var configuration = EncoderConfiguration(
            encoder: encoder.name, mediaType: .video, timeBase: Rational(1, 25))
        (configuration.width, configuration.height) = (640, 360)
        configuration.pixelFormat = formats.contains(.yuv420p) ? .yuv420p : formats.first ?? .yuv420p
        configuration.frameRate = Rational(25, 1)
        return configuration
    }

    static func check(_ spec: inout AudioEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        guard let encoder = encoder(spec.codec, named: spec.encoderRange, into: &sink) else { return }
        if let rate = spec.bitRate, !codec.acceptsBitRate {
            sink.error(
                .codecSetting, "`bitrate` is not supported by \(codec.name), which is lossless",
                at: rate.range)
        }
        checkAudioSettings(spec, encoder: encoder, into: &sink)
        if let rate = spec.sampleRate, !encoder.sampleRates.isEmpty, !encoder.sampleRates.contains(rate.value)
        {
            sink.error(
                .codecSetting, "a sample rate of \(rate.value) Hz is not supported by \(codec.name)",
                at: rate.range,
                help: "supported: \(encoder.sampleRates.sorted().map(String.init).joined(separator: ", "))")
        }
        let layouts = codec.layouts(of: encoder)
        if let layout = spec.channels, !layouts.isEmpty, !layouts.contains(layout.value) {
            sink.error(
                .codecSetting, "the channel layout \(layout.value) is not supported by \(codec.name)",
                at: layout.range,
                help: "supported: \(layouts.map(\.description).joined(separator: ", "))")
        }
        checkOptions(&spec.options, of: encoder, excluding: ["b", "ab", "ar", "ac"], into: &sink)
        if let check = availabilityCheck(codec, encoder, at: spec.encoderRange) { spec.checks.append(check) }
        if let normalize = spec.normalize, let filters = spec.filters,
            filters.value.steps.contains(where: { $0.name == FilterCatalog.loudnessNormalizer })
        {
            sink.error(
                .conflictingKeys,
                "`normalize` can't be combined with the filter `loudnorm`, which would change the loudness again",
                at: filters.range,
                notes: [Diagnostic.Note("`normalize` is here", at: normalize.range)],
                help: "remove `loudnorm`")
        }
        if let filters = spec.filters { spec.checks.append(check(filters, .audio)) }
    }

    /// Checks settings for conflicts with each other, independently of the encoder. `codec` is nil if it is unknown;
    /// `unknown` is the same as in `check`.
    static func checkCombinations(
        _ spec: VideoEncodeSpec, codec: CodecSelection?, unknown: Set<String>, into sink: inout DiagnosticSink
    ) {
        if codec?.acceptsMaxBitRate != false { checkMaxBitRate(spec, unknown: unknown, into: &sink) }
        if let fit = spec.fit {
            let isWhole = spec.size?.value.width != nil && spec.size?.value.height != nil
            if !isWhole, !unknown.contains("size") {
                sink.error(
                    .missingKey, "`fit` requires a `size` with width and height", at: fit.range,
                    notes: spec.size.map {
                        [Diagnostic.Note("this size has only one side", at: $0.range)]
                    } ?? [])
            }
            if let aspect = spec.pixelAspectRatio, fit.value != .stretch {
                sink.error(
                    .conflictingKeys,
                    "`pixel_aspect_ratio` can't be combined with `fit: \(fit.value.rawValue)`, which produces square pixels",
                    at: aspect.range, notes: [Diagnostic.Note("`fit` is here", at: fit.range)])
            }
        }
    }

    /// Checks that color properties can be represented in the codec and the pixel format.
    private static func checkColor(
        _ spec: VideoEncodeSpec, encoder: EncoderInfo, into sink: inout DiagnosticSink
    ) {
        guard let color = spec.color, !color.isForHighRangeAlone else { return }
        let (codec, matrix) = (spec.codec.value, color.matrix)
        if codec.codec.fixedColor == .jpeg, let matrix,
            !ColorDescription.isSameMatrix(matrix.value, "bt470bg")
        {
            sink.error(
                .codecSetting, "the matrix of \(codec.name) is always bt470bg",
                at: matrix.range)
        }
        if let matrices = codec.codec.matrices, let matrix, !matrices.contains(matrix.value) {
            sink.error(
                .codecSetting, "the matrix \(matrix.value) is not supported by \(codec.name)",
                at: matrix.range,
                help: "supported: \(matrices.joined(separator: ", "))")
        }
        if let levels = color.levels {
            let own = codec.codec.fixedColor.map { $0 == .jpeg ? "pc" : "tv" }
            if let own, own != levels.value {
                sink.error(
                    .codecSetting, "the range of \(codec.name) is always \(own)",
                    at: levels.range)
            }
            if let format = spec.pixelFormat, levels.value == "tv", own == nil,
                format.value.isRGB || format.value.isFullRangeByName
            {
                sink.error(
                    .conflictingKeys,
                    "the pixel format `\(format.value)` is full range, so `range` must be pc",
                    at: levels.range,
                    notes: [Diagnostic.Note("the pixel format is here", at: format.range)])
            }
        }
        guard let matrix else { return }
        let isRGB = matrix.value == "gbr"
        if let format = spec.pixelFormat, format.value.isRGB != isRGB {
            sink.error(
                .conflictingKeys,
                isRGB
                    ? "the matrix gbr requires an RGB pixel format, not `\(format.value)`"
                    : "the RGB pixel format `\(format.value)` requires the matrix gbr", at: matrix.range,
                notes: [Diagnostic.Note("the pixel format is here", at: format.range)])
        } else if isRGB, !codec.pixelFormats(of: encoder).contains(where: \.isRGB) {
            sink.error(
                .codecSetting,
                "the matrix gbr is not supported by \(encoder.name), which has no RGB pixel formats",
                at: matrix.range)
        }
    }

    private static func checkAudioSettings(
        _ spec: AudioEncodeSpec, encoder: EncoderInfo, into sink: inout DiagnosticSink
    ) {
        let codec = spec.codec.value
        if let quality = spec.quality {
            if let range = codec.qualities {
                if quality.value < range.lowerBound * 1000 || quality.value > range.upperBound * 1000 {
                    sink.error(
                        .codecSetting,
                        "`quality` of \(codec.name) must be from \(range.lowerBound) to \(range.upperBound)",
                        at: quality.range)
                }
            } else {
                sink.error(
                    .codecSetting, "`quality` is not supported by \(codec.name)", at: quality.range,
                    help: codec.acceptsBitRate ? "use `bitrate`" : nil)
            }
        }
        checkChoice(spec.profile, "profile", of: codec.profileNames, codec: codec, into: &sink)
        if let format = spec.sampleFormat {
            if !encoder.sampleFormats.isEmpty, !encoder.sampleFormats.contains(format.value) {
                sink.error(
                    .codecSetting, "the sample format `\(format.value)` is not supported by \(codec.name)",
                    at: format.range,
                    help: "supported: \(encoder.sampleFormats.map(\.description).joined(separator: ", "))")
            }
            if let depth = spec.bitDepth {
                sink.error(
                    .conflictingKeys, "`bit_depth` can't be combined with `sample_format`", at: depth.range,
                    notes: [Diagnostic.Note("`sample_format` is here", at: format.range)])
            }
        }
        if let depth = spec.bitDepth, !(codec.bitDepths ?? []).contains(depth.value) {
            sink.error(
                .codecSetting, "a bit depth of \(depth.value) is not supported by \(codec.name)",
                at: depth.range,
                help: codec.bitDepths.map { "supported: \($0.map(String.init).joined(separator: ", "))" })
        }
    }

    /// Options that correspond to keys of the job language.
    private static let optionsWithKeys: Set<String> = [
        "crf", "qp", "preset", "profile", "level", "b", "g", "s", "r", "pix_fmt", "tune", "bf", "pass",
        "passlogfile", "stats",
    ]

    /// Returns the encoder in this build; nil after an error. `named` is the location of `encoder`, if the
    /// job sets it.
    static func encoder(
        _ codec: Located<CodecSelection>, named range: SourceRange? = nil, into sink: inout DiagnosticSink
    ) -> EncoderInfo? {
        if let encoder = codec.value.availableEncoder { return encoder }
        let models = codec.value.codec.encoders
        guard let range else {
            let names = models.map(\.name).joined(separator: ", ")
            sink.add(
                Diagnostic(
                    .error, .encoderMissing,
                    "this build of FFmpeg has no encoder for \(codec.value.name) (\(names))", at: codec.range,
                    isEnvironment: true))
            return nil
        }
        let others = models.map(\.name).filter { EncoderInfo(named: $0) != nil }
        sink.add(
            Diagnostic(
                .error, .encoderMissing,
                "\(codec.value.encoder.name) is not available in this build of FFmpeg",
                at: range,
                help: others.isEmpty
                    ? nil : "available encoders of \(codec.value.name): \(others.joined(separator: ", "))",
                isEnvironment: true))
        return nil
    }

    private static func checkRateControl(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        if let control = spec.rateControl {
            let name = codec.label
            switch control.value {
            case .crf(let value):
                if let range = codec.crfRange {
                    if value < range.lowerBound * 1000 || value > range.upperBound * 1000 {
                        sink.error(
                            .codecSetting,
                            "`crf` of \(name) must be from \(range.lowerBound) to \(range.upperBound)",
                            at: control.range)
                    } else if codec.constantQuality?.isWhole == true, value % 1000 != 0 {
                        sink.error(.codecSetting, "`crf` of \(name) must be an integer", at: control.range)
                    }
                } else {
                    sink.error(
                        .codecSetting, "`crf` is not supported by \(name)", at: control.range,
                        help: supportedRateControl(codec))
                }
            case .qp(let value):
                if let range = codec.qpRange {
                    if !range.contains(value) {
                        sink.error(
                            .codecSetting,
                            "`qp` of \(name) must be from \(range.lowerBound) to \(range.upperBound)",
                            at: control.range)
                    }
                } else {
                    sink.error(
                        .codecSetting, "`qp` is not supported by \(name)", at: control.range,
                        help: supportedRateControl(codec))
                }
            case .quality: break
            case .bitRate:
                if !codec.acceptsBitRate {
                    sink.error(
                        .codecSetting, "`bitrate` is not supported by \(name)", at: control.range,
                        help: supportedRateControl(codec))
                }
            case .lossless:
                if !codec.canBeLossless {
                    sink.error(
                        .codecSetting, "`lossless` is not supported by \(name)", at: control.range,
                        help: supportedRateControl(codec)
                    )
                }
            }
        }
        if !codec.acceptsMaxBitRate {
            for setting in [("max_bitrate", spec.maxBitRate), ("buffer_size", spec.bufferSize)] {
                guard let value = setting.1 else { continue }
                sink.error(
                    .codecSetting, "`\(setting.0)` is not supported by \(codec.label)", at: value.range)
            }
        }
    }

    /// Checks `max_bitrate` and `buffer_size` against each other and against the rate control.
    private static func checkMaxBitRate(
        _ spec: VideoEncodeSpec, unknown: Set<String>, into sink: inout DiagnosticSink
    ) {
        guard let maximum = spec.maxBitRate else {
            if let buffer = spec.bufferSize, !unknown.contains("max_bitrate") {
                sink.error(.missingKey, "`buffer_size` requires `max_bitrate`", at: buffer.range)
            }
            return
        }
        if spec.bufferSize == nil, !unknown.contains("buffer_size") {
            sink.error(
                .missingKey,
                "`max_bitrate` requires `buffer_size`, usually one to two seconds' worth (for example \(rateText(maximum.value)))",
                at: maximum.range)
        }
        if case .bitRate(let average)? = spec.rateControl?.value, average > maximum.value {
            sink.error(.codecSetting, "`max_bitrate` must not be less than `bitrate`", at: maximum.range)
        }
        switch spec.rateControl?.value {
        case .qp, .lossless:
            sink.error(
                .conflictingKeys, "`max_bitrate` can't be combined with `qp` or `lossless`", at: maximum.range
            )
        default: break
        }
    }

    /// Returns a bit rate in the syntax of job files.
    private static func rateText(_ rate: Int64) -> String { rate % 1000 == 0 ? "\(rate / 1000)k" : "\(rate)" }

    private static func supportedRateControl(_ codec: CodecSelection) -> String {
        var names: [String] = []
        if codec.crfRange != nil { names.append("crf") }
        if codec.qpRange != nil { names.append("qp") }
        if codec.acceptsBitRate { names.append("bitrate") }
        if codec.canBeLossless { names.append("lossless") }
        return names.isEmpty
            ? "`profile` sets the quality" : "supported: \(names.joined(separator: ", "))"
    }

    /// Returns the preset, set by key or as the encoder's option, if it supports only one pass; nil otherwise.
    private static func presetOfOnePass(_ spec: VideoEncodeSpec) -> Located<String>? {
        let codec = spec.codec.value
        let option = spec.options.last { .option($0.name.value) == codec.presetOption }?.value
        guard let preset = option ?? spec.preset, codec.presetsOfOnePass.contains(preset.value) else {
            return nil
        }
        return preset
    }

    private static func checkChoice(
        _ value: Located<String>?, _ key: String, of allowed: [String]?, codec: CodecSelection,
        into sink: inout DiagnosticSink
    ) {
        guard let value else { return }
        guard let allowed else {
            sink.error(.codecSetting, "`\(key)` is not supported by \(codec.label)", at: value.range)
            return
        }
        // A level such as `4` may also be written `4.0`.
        let text =
            key == "level" && value.value.hasSuffix(".0") ? String(value.value.dropLast(2)) : value.value
        guard !allowed.contains(text) else { return }
        sink.error(
            .codecSetting, "\(codec.label) has no \(key) `\(value.value)`", at: value.range,
            help: (key == "level" || Int(value.value) != nil
                ? nil : Suggestion.help(for: value.value, among: allowed))
                ?? "expected one of \(allowed.joined(separator: ", "))")
    }

    /// Validates options against the encoder's table, and parses parameter lists such as `x264-params`. The table lacks
    /// options that open files; `excluded` contains those that have a key in the job language.
    private static func checkOptions(
        _ options: inout [EncoderOption], of encoder: EncoderInfo, excluding excluded: Set<String>,
        into sink: inout DiagnosticSink
    ) {
        let table = EncoderOptionCatalog.options(of: encoder.name)
        let keys = EncoderModel.of(encoder.name).keysOfOptions
        for index in options.indices {
            let (name, value) = (options[index].name, options[index].value)
            if excluded.contains(name.value) {
                sink.error(
                    .conflictingKeys, "`\(name.value)` can't be set in `options`: it has its own key",
                    at: name.range,
                    help: keys[name.value].flatMap { $0 == name.value ? nil : "use the key `\($0)`" })
                continue
            }
            if let other = EncoderModel.of(encoder.name).optionAliases[name.value] {
                sink.error(
                    .encoderOption, "`\(name.value)` is an alias of `\(other)`", at: name.range,
                    help: "write `\(other)`")
                continue
            }
            guard let entry = table[name.value], let declaration = encoder.option(name.value) else {
                let exists = encoder.option(name.value) != nil
                sink.error(
                    .encoderOption,
                    exists
                        ? "the option `\(name.value)` of \(encoder.name) can't be set in a job file"
                        : "\(encoder.name) has no option `\(name.value)`", at: name.range,
                    help: ForeignWords.help(option: name.value)
                        ?? Suggestion.help(for: name.value, among: table.names))
                continue
            }
            if let parameters = EncoderOptionCatalog.parameters(of: name.value) {
                options[index].parameters = ParameterList.read(
                    options[index], of: encoder.name, parameters, into: &sink)
            } else if let problem = entry.grammar.problem(value.value, declaration: declaration) {
                sink.error(
                    .encoderOption,
                    "`\(name.value)` of \(encoder.name) can't be `\(value.value)`: \(problem)",
                    at: value.range)
            }
        }
    }
}
