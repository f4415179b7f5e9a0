public import LibAV

extension VideoSettings {
    /// Returns the encoder configuration of the settings. Callers can change properties that the settings lack. `container` is the
    /// destination's, if it is known.
    /// - Throws: `MediaError.invalidSettings`, which states the allowed values, or `MediaError.noEncoder`.
    public func configuration(for container: ContainerType? = nil) throws(MediaError) -> EncoderConfiguration
    {
        let (model, encoder) = try EncoderModel.available(codec.codecName)
        let format = try pixelFormat(
            model, encoder, supportsSeparateAlpha: container?.model.supportsSeparateAlpha ?? true)
        try check(model, format)
        var configuration = EncoderConfiguration(
            encoder: model.name, mediaType: .video, timeBase: Self.timeBase(ofFrames: frameRate.inverted))
        (configuration.width, configuration.height) = (size.width, size.height)
        configuration.pixelFormat = format
        configuration.frameRate = frameRate
        configuration.sampleAspectRatio = pixelAspectRatio
        configuration.color = color
        configuration.keyframeInterval = model.gop.acceptsKeyframeInterval ? keyframeInterval : nil
        try setRate(of: model, in: &configuration)
        if let speeds = model.tuning.speeds {
            configuration.set(speeds.values[speed.rawValue], at: speeds.option)
        }
        var choices = EncoderChoices()
        choices.profile = proResProfile?.rawValue
        model.set(choices, in: &configuration)
        return configuration
    }

    /// Returns a fine unit in which a frame's duration is a whole number of ticks, so that frames of a varying rate keep
    /// their times.
    private static func timeBase(ofFrames duration: Rational) -> Rational {
        Rational(1, duration.den * max(1, 120_000 / max(1, duration.den)))
    }

    /// Returns a fine unit in which a frame's duration is a whole number of ticks.
    package static func timeBase(ofFrames duration: MediaTime) -> Rational {
        let reduced = duration.reduced
        return timeBase(
            ofFrames: Rational(Int32(clamping: reduced.value), Int32(clamping: reduced.timescale)))
    }

    private func pixelFormat(
        _ model: EncoderModel, _ encoder: EncoderInfo, supportsSeparateAlpha: Bool
    ) throws(MediaError) -> PixelFormat {
        guard [8, 10, 12].contains(bitDepth) else {
            throw .invalidSettings("`bitDepth` is \(bitDepth); expected 8, 10 or 12")
        }
        let name =
            (hasAlpha ? "yuva" : "yuv") + chroma.rawValue.dropFirst(3) + "p"
            + (bitDepth == 8 ? "" : "\(bitDepth)le")
        let formats =
            model.frames.pixelFormats?.compactMap { PixelFormat(named: $0) }
            ?? encoder.pixelFormats
        guard let format = PixelFormat(named: name), formats.isEmpty || formats.contains(format),
            model.frames.supports(format, proResProfile?.rawValue, supportsSeparateAlpha)
        else {
            throw .invalidSettings(
                "\(codec.name)\(proResProfile.map { " \($0.rawValue)" } ?? "") doesn't support \(bitDepth)-bit \(chroma.name)\(hasAlpha ? " with alpha" : "")"
            )
        }
        return format
    }

    /// Throws if a value is out of its bounds.
    private func check(_ model: EncoderModel, _ format: PixelFormat) throws(MediaError) {
        let sides = model.frames.minimumSide...PixelSize.maxSide
        guard sides.contains(size.width), sides.contains(size.height) else {
            throw .invalidSettings(
                "`size` is \(size); expected a width and height from \(sides.lowerBound) to \(sides.upperBound)"
            )
        }
        let step = model.frames.roundsToChroma ? format.chromaSubsampling : (1, 1)
        guard size.width.isMultiple(of: step.0), size.height.isMultiple(of: step.1) else {
            throw .invalidSettings(
                "`size` is \(size); \(codec.name) with \(chroma.name) requires a width that is a multiple of \(step.0) and a height that is a multiple of \(step.1)"
            )
        }
        guard frameRate.isPositive, (0.01...1000).contains(frameRate.double) else {
            throw .invalidSettings("`frameRate` is \(frameRate); expected a rate from 1/100 to 1000")
        }
        if let aspect = pixelAspectRatio, !aspect.isPositive || !(0.01...100).contains(aspect.double) {
            throw .invalidSettings("`pixelAspectRatio` is \(aspect); expected a ratio from 1/100 to 100")
        }
        if let interval = keyframeInterval, !(1...100_000).contains(interval) {
            throw .invalidSettings("`keyframeInterval` is \(interval); expected 1 to 100000 frames")
        }
    }

    private func setRate(
        of model: EncoderModel, in configuration: inout EncoderConfiguration
    ) throws(MediaError) {
        switch rateControl {
        case .standard: model.set(nil, in: &configuration)
        case .crf(let value):
            guard let quality = model.rate.constantQuality else {
                throw .invalidSettings("\(codec.name) doesn't support `crf` with the encoder \(model.name)")
            }
            let range = Double(quality.minimum)...Double(quality.maximum)
            guard range.contains(value), !quality.isWhole || value == value.rounded() else {
                throw .invalidSettings(
                    "`crf` is \(value); expected \(quality.isWhole ? "a whole number" : "a number") from \(quality.minimum) to \(quality.maximum) for \(codec.name)"
                )
            }
            model.set(.crf(Int((value * 1000).rounded())), in: &configuration)
        case .bitRate(let rate, let maximum):
            guard model.rate.acceptsBitRate else {
                throw .invalidSettings("\(codec.name) doesn't support `bitRate`; the profile determines it")
            }
            let rates: ClosedRange<Int64> = 1000...1_000_000_000
            guard rates.contains(rate) else {
                throw .invalidSettings("`bitRate` is \(rate); expected 1000 to 1000000000 bits per second")
            }
            model.set(.bitRate(rate), in: &configuration)
            guard let maximum else { break }
            guard model.rate.acceptsMaxBitRate else {
                throw .invalidSettings(
                    "\(codec.name) doesn't support `maximum` with the encoder \(model.name)")
            }
            guard maximum >= rate, rates.contains(maximum) else {
                throw .invalidSettings(
                    "`maximum` is \(maximum); expected `bitRate` (\(rate)) to 1000000000 bits per second")
            }
            // A buffer of one second, as streaming servers expect.
            (configuration.maxBitRate, configuration.bufferSize) = (maximum, maximum)
        case .lossless:
            guard case .set = model.rate.lossless else {
                throw .invalidSettings("\(codec.name) doesn't support `lossless`")
            }
            model.set(.lossless, in: &configuration)
        }
    }
}

extension VideoSettings.Codec {
    /// Name in libavcodec.
    var codecName: String {
        switch self {
        case .h264, .hevc, .vp9, .av1: rawValue
        case .proRes: CodecKeys.proRes
        }
    }

    /// Name for messages.
    var name: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "HEVC"
        case .vp9: "VP9"
        case .av1: "AV1"
        case .proRes: "ProRes"
        }
    }
}

extension VideoSettings.Chroma {
    /// Name for messages.
    var name: String {
        switch self {
        case .yuv420: "4:2:0"
        case .yuv422: "4:2:2"
        case .yuv444: "4:4:4"
        }
    }
}

extension EncoderModel {
    /// Returns the software encoder of this build for a codec, by libavcodec's name.
    static func available(_ codec: String) throws(MediaError) -> (model: EncoderModel, encoder: EncoderInfo) {
        for model in encoders(of: codec) where model.requirement == nil {
            if let encoder = EncoderInfo(named: model.name) { return (model, encoder) }
        }
        throw .noEncoder(codec: codec)
    }
}
