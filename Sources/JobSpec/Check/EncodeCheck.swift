internal import Diagnostics
internal import LibAV
internal import Media

/// Validation of encoder settings against the encoders of this build, without opening media.
enum EncodeCheck {
    /// Checks the settings against the codec and its encoder. `unknown` contains keys that the job may set although the
    /// spec lacks their values, because they are invalid or not known yet.
    static func check(
        _ spec: inout VideoEncodeSpec, unknown: Set<EncodeKey>, into sink: inout DiagnosticSink
    ) {
        let (codec, before) = (spec.codec.value, sink.errorCount)
        guard let encoder = encoder(spec.codec, named: spec.encoderRange, into: &sink) else { return }
        RateControlCheck.check(spec, into: &sink)
        EncoderOptionCheck.checkChoice(
            spec.preset, "preset", of: codec.tuning.presets, codec: codec, into: &sink)
        EncoderOptionCheck.checkChoice(
            spec.profile, "profile", of: codec.profileNames, codec: codec, into: &sink)
        EncoderOptionCheck.checkChoice(
            spec.level, "level", of: codec.conformance.levels, codec: codec, into: &sink)
        let formats = codec.pixelFormats(of: encoder)
        if let format = spec.pixelFormat, !formats.isEmpty, !formats.contains(format.value) {
            sink.error(
                .codecSetting, "the pixel format `\(format.value)` is not supported by \(encoder.name)",
                at: format.range,
                help: "supported: \(formats.map(\.description).joined(separator: ", "))")
        }
        EncoderOptionCheck.checkChoice(spec.tune, "tune", of: codec.tuning.tunes, codec: codec, into: &sink)
        EncodeColorCheck.check(spec, encoder: encoder, into: &sink)
        RateControlCheck.checkPasses(spec, unknown: unknown, into: &sink)
        RateControlCheck.checkTargetSize(spec, unknown: unknown, into: &sink)
        RateControlCheck.checkQuality(spec, into: &sink)
        RateControlCheck.checkBFrames(spec, into: &sink)
        RateControlCheck.checkChunks(spec, into: &sink)
        if let interval = spec.keyframeInterval, !codec.gop.acceptsKeyframeInterval {
            sink.error(
                .codecSetting,
                "`keyframe_interval` is not supported by \(codec.label): every frame is a keyframe",
                at: interval.range)
        }
        EncoderOptionCheck.checkOptions(
            &spec.options, of: encoder, codec.encoder,
            excluding: EncoderOptionCheck.optionsWithKeys.union(codec.keysOfOptions.keys).subtracting(
                EncoderOptionCatalog.options(of: encoder.name).names), into: &sink)
        if let check = DryOpenCheck.availabilityOfEncoder(codec, encoder, at: spec.encoderRange) {
            spec.checks.append(check)
        }
        // The dry open of invalid settings would only repeat the error.
        if sink.errorCount == before, let check = DryOpenCheck.settings(spec, encoder: encoder) {
            spec.checks.append(check)
        }
        if let filters = spec.filters { spec.checks.append(DryOpenCheck.filters(filters, .video)) }
    }

    static func check(_ spec: inout AudioEncodeSpec, into sink: inout DiagnosticSink) {
        let codec = spec.codec.value
        guard let encoder = encoder(spec.codec, named: spec.encoderRange, into: &sink) else { return }
        if let rate = spec.bitRate, !codec.rate.acceptsBitRate {
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
        EncoderOptionCheck.checkOptions(
            &spec.options, of: encoder, codec.encoder, excluding: ["b", "ab", "ar", "ac"], into: &sink)
        if let check = DryOpenCheck.availabilityOfEncoder(codec, encoder, at: spec.encoderRange) {
            spec.checks.append(check)
        }
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
        // Before filters such as `acompressor`, a gain changes the result.
        if let gain = spec.gain, gain.value != 0, let normalize = spec.normalize, spec.filters == nil {
            sink.error(
                .conflictingKeys,
                "`gain` has no effect with `normalize`, which sets the loudness of the output",
                at: gain.range,
                notes: [Diagnostic.Note("`normalize` is here", at: normalize.range)],
                help: "remove `gain`; `integrated` of `normalize` determines the loudness")
        }
        if let filters = spec.filters { spec.checks.append(DryOpenCheck.filters(filters, .audio)) }
    }

    private static func checkAudioSettings(
        _ spec: AudioEncodeSpec, encoder: EncoderInfo, into sink: inout DiagnosticSink
    ) {
        let codec = spec.codec.value
        if let quality = spec.quality {
            if let range = codec.rate.qualities {
                if quality.value < range.lowerBound * 1000 || quality.value > range.upperBound * 1000 {
                    sink.error(
                        .codecSetting,
                        "`quality` of \(codec.name) must be from \(range.lowerBound) to \(range.upperBound)",
                        at: quality.range)
                }
            } else {
                sink.error(
                    .codecSetting, "`quality` is not supported by \(codec.name)", at: quality.range,
                    help: codec.rate.acceptsBitRate ? "use `bitrate`" : nil)
            }
        }
        EncoderOptionCheck.checkChoice(
            spec.profile, "profile", of: codec.profileNames, codec: codec, into: &sink)
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
        if let depth = spec.bitDepth, !(codec.samples.bitDepths ?? []).contains(depth.value) {
            sink.error(
                .codecSetting, "a bit depth of \(depth.value) is not supported by \(codec.name)",
                at: depth.range,
                help: codec.samples.bitDepths.map {
                    "supported: \($0.map(String.init).joined(separator: ", "))"
                })
        }
    }

    /// Checks settings for conflicts with each other, independently of the encoder. `codec` is nil if it is unknown;
    /// `unknown` is the same as in `check`.
    static func checkCombinations(
        _ spec: VideoEncodeSpec, codec: CodecSelection?, unknown: Set<EncodeKey>,
        into sink: inout DiagnosticSink
    ) {
        if codec?.rate.acceptsMaxBitRate != false {
            RateControlCheck.checkMaximum(spec, unknown: unknown, into: &sink)
        }
        if let fit = spec.fit {
            let isWhole = spec.size?.value.width != nil && spec.size?.value.height != nil
            if !isWhole, !unknown.contains(.size) {
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
}
