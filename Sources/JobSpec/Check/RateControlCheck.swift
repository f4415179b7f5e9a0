internal import Diagnostics
internal import LibAV

/// Validation of the rate control of a video encoding: keys, bounds, passes and B-frames.
enum RateControlCheck {
    static func check(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        if let control = spec.rateControl {
            let name = codec.label
            switch control.value {
            case .crf(let value):
                if let constant = codec.rate.constantQuality {
                    checkCRF([value], of: codec, constant, at: control.range, into: &sink)
                } else {
                    sink.error(
                        .codecSetting, "`crf` is not supported by \(name)", at: control.range,
                        help: supportedRateControl(codec))
                }
            case .qp(let value):
                if let range = codec.rate.qpRange {
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
                if !codec.rate.acceptsBitRate {
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
        if !codec.rate.acceptsMaxBitRate {
            for setting in [("max_bitrate", spec.maxBitRate), ("buffer_size", spec.bufferSize)] {
                guard let value = setting.1 else { continue }
                sink.error(
                    .codecSetting, "`\(setting.0)` is not supported by \(codec.label)", at: value.range)
            }
        }
    }

    /// Checks `max_bitrate` and `buffer_size` against each other and against the rate control.
    static func checkMaximum(
        _ spec: VideoEncodeSpec, unknown: Set<EncodeKey>, into sink: inout DiagnosticSink
    ) {
        guard let maximum = spec.maxBitRate else {
            if let buffer = spec.bufferSize, !unknown.contains(.maxBitRate) {
                sink.error(.missingKey, "`buffer_size` requires `max_bitrate`", at: buffer.range)
            }
            return
        }
        if spec.bufferSize == nil, !unknown.contains(.bufferSize) {
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
        if codec.rate.qpRange != nil { names.append("qp") }
        if codec.rate.acceptsBitRate { names.append("bitrate") }
        if codec.canBeLossless { names.append("lossless") }
        return names.isEmpty
            ? "`profile` sets the quality" : "supported: \(names.joined(separator: ", "))"
    }

    /// Checks `passes: 2` against the codec, the rate control, the frame rate and the preset.
    static func checkPasses(
        _ spec: VideoEncodeSpec, unknown: Set<EncodeKey>, into sink: inout DiagnosticSink
    ) {
        guard let passes = spec.passes, passes.value == 2 else { return }
        let codec = spec.codec.value
        guard let support = codec.twoPasses else {
            sink.error(.codecSetting, "`passes: 2` is not supported by \(codec.label)", at: passes.range)
            return
        }
        // The checks of `target_size` and `quality` report the conditions of two passes.
        if spec.targetSize != nil || spec.quality != nil { return }
        if case .bitRate? = spec.rateControl?.value {
            checkTwoPasses(support, of: spec, "passes: 2", at: passes.range, unknown: unknown, into: &sink)
        } else if !unknown.contains(.bitrate) {
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

    /// Checks `parallel` with a number of chunks, or with `cluster`, against the encoder and the rate control. `auto`
    /// encodes the track as a whole where chunks aren't supported.
    static func checkChunks(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        guard let parallel = spec.parallel, parallel.value.requiresChunks else { return }
        let codec = spec.codec.value
        if codec.encoder.operation.chunkSettings == nil {
            sink.error(.codecSetting, "`parallel` is not supported by \(codec.label)", at: parallel.range)
            return
        }
        let rate: (key: String, range: SourceRange)? =
            if case .bitRate? = spec.rateControl?.value {
                spec.rateControl.map { ("bitrate", $0.range) }
            } else if let target = spec.targetSize {
                ("target_size", target.range)
            } else {
                spec.maxBitRate.map { ("max_bitrate", $0.range) }
            }
        if let quality = spec.quality, parallel.value == .distributed {
            sink.error(
                .conflictingKeys,
                "`parallel: cluster` can't be combined with `quality`, which is searched on one machine",
                at: parallel.range, notes: [Diagnostic.Note("`quality` is here", at: quality.range)],
                help: "`parallel: auto` uses the processors of one machine")
        }
        if let rate {
            sink.error(
                .conflictingKeys,
                "`parallel` can't be combined with `\(rate.key)`: chunks are encoded with constant quality",
                at: parallel.range, notes: [Diagnostic.Note("`\(rate.key)` is here", at: rate.range)])
        }
    }

    /// Checks `target_size` against the codec, and against settings that exclude two passes.
    static func checkTargetSize(
        _ spec: VideoEncodeSpec, unknown: Set<EncodeKey>, into sink: inout DiagnosticSink
    ) {
        if let scale = spec.scale, scale.value == .auto, spec.targetSize == nil,
            !unknown.contains(.targetSize)
        {
            sink.error(
                .missingKey, "`scale: auto` requires `target_size`", at: scale.range,
                help: "`size` sets the size of the frame")
        }
        guard let target = spec.targetSize else { return }
        let codec = spec.codec.value
        guard codec.reachesSizes else {
            sink.error(
                .codecSetting, "`target_size` is not supported by \(codec.label)", at: target.range,
                help: "`limit: { size }` of the job truncates the output at a size")
            return
        }
        guard let support = codec.twoPasses else { return }
        if let passes = spec.passes, passes.value == 1 {
            sink.error(
                .conflictingKeys, "`target_size` can't be combined with `passes: 1`; it takes two passes",
                at: target.range, notes: [Diagnostic.Note("`passes` is here", at: passes.range)])
        }
        checkTwoPasses(support, of: spec, "target_size", at: target.range, unknown: unknown, into: &sink)
    }

    /// Checks the settings on which two passes depend, which `key` requires.
    private static func checkTwoPasses(
        _ support: EncoderModel.TwoPasses, of spec: VideoEncodeSpec, _ key: String, at range: SourceRange,
        unknown: Set<EncodeKey>, into sink: inout DiagnosticSink
    ) {
        let codec = spec.codec.value
        if support.countsFrames, spec.frameRate == nil, !unknown.contains(.frameRate) {
            sink.error(
                .missingKey,
                "`\(key)` of \(codec.label) requires `frame_rate`, because the encoder counts frames",
                at: range)
        }
        guard let preset = presetOfOnePass(spec) else { return }
        let others = (codec.tuning.presets ?? []).filter { !support.presetsOfOnePass.contains($0) }
        sink.error(
            .conflictingKeys,
            "`\(key)` can't be combined with the preset `\(preset.value)` of \(codec.label)", at: range,
            notes: [Diagnostic.Note("the preset is here", at: preset.range)],
            help: "presets that support two passes: \(others.map { "`\($0)`" }.joined(separator: ", "))")
    }

    /// Returns the preset, set by key or as the encoder's option, if it supports only one pass; nil otherwise.
    private static func presetOfOnePass(_ spec: VideoEncodeSpec) -> Located<String>? {
        let codec = spec.codec.value
        let option = spec.options.last { .option($0.name.value) == codec.tuning.presetOption }?.value
        guard let preset = option ?? spec.preset,
            codec.twoPasses?.presetsOfOnePass.contains(preset.value) == true
        else {
            return nil
        }
        return preset
    }

    /// Checks `b_frames` against the profile and the codec.
    static func checkBFrames(_ spec: VideoEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        if let frames = spec.bFrames, let profile = spec.profile, frames.value > 0,
            codec.conformance.profiles?.first(where: { $0.name == profile.value })?.hasBFrames == false
        {
            sink.error(
                .conflictingKeys, "`b_frames` must be 0 with the profile \(profile.value)", at: frames.range,
                notes: [Diagnostic.Note("the profile is here", at: profile.range)])
        }
        if let frames = spec.bFrames {
            if let most = codec.gop.maxBFrames {
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
}
