public import LibAV

extension AudioSettings {
    /// Returns the encoder configuration of the settings. Callers can change properties that the settings lack.
    /// - Throws: `MediaError.invalidSettings`, which states the allowed values, or `MediaError.noEncoder`.
    public func configuration() throws(MediaError) -> EncoderConfiguration {
        let (model, encoder) = try EncoderModel.available(codec.codecName)
        try check(model, encoder)
        var configuration = EncoderConfiguration(
            encoder: model.name, mediaType: .audio, timeBase: Rational(1, sampleRate))
        (configuration.sampleRate, configuration.channelLayout) = (sampleRate, layout)
        configuration.sampleFormat = sampleFormat(of: encoder)
        configuration.bitRate = bitRate ?? model.rate.defaultBitRate(layout.channels)
        configuration.bitsPerSample = bitDepth
        model.set(EncoderChoices(), in: &configuration)
        try checkOpened(configuration)
        return configuration
    }

    private func sampleFormat(of encoder: EncoderInfo) -> SampleFormat {
        let wanted: SampleFormat =
            bitDepth.map { $0 <= 16 ? .s16 : .s32 } ?? .float
        return wanted.nearest(of: encoder.sampleFormats) ?? wanted
    }

    /// Throws if a value is out of its bounds.
    private func check(_ model: EncoderModel, _ encoder: EncoderInfo) throws(MediaError) {
        guard (1...768_000).contains(sampleRate) else {
            throw .invalidSettings("`sampleRate` is \(sampleRate); expected 1 to 768000 Hz")
        }
        guard encoder.sampleRates.isEmpty || encoder.sampleRates.contains(sampleRate) else {
            let rates = encoder.sampleRates.sorted().map(String.init).joined(separator: ", ")
            throw .invalidSettings(
                "`sampleRate` is \(sampleRate); expected one of \(rates) Hz for \(codec.name)")
        }
        let layouts = model.samples.layouts ?? encoder.layouts.map(\.description)
        guard layouts.isEmpty || layouts.contains(layout.description) else {
            throw .invalidSettings(
                "`layout` is \(layout); expected one of \(layouts.joined(separator: ", ")) for \(codec.name)"
            )
        }
        guard bitRate == nil || model.rate.acceptsBitRate else {
            throw .invalidSettings("\(codec.name) is lossless and doesn't support `bitRate`")
        }
        if let bitRate, !(1...1_000_000_000).contains(bitRate) {
            throw .invalidSettings("`bitRate` is \(bitRate); expected 1 to 1000000000 bits per second")
        }
        if let bitRate, let rates = model.rate.bitRates?(sampleRate), !rates.contains(bitRate) {
            throw .invalidSettings(
                "`bitRate` is \(bitRate); expected one of \(rates.map(String.init).joined(separator: ", ")) bits per second for \(codec.name) at \(sampleRate) Hz"
            )
        }
        guard let bitDepth else { return }
        let depths = model.samples.bitDepths ?? []
        guard depths.contains(bitDepth) else {
            throw .invalidSettings(
                depths.isEmpty
                    ? "\(codec.name) doesn't support `bitDepth`"
                    : "`bitDepth` is \(bitDepth); expected \(depths.map(String.init).joined(separator: " or ")) for \(codec.name)"
            )
        }
    }

    /// Opens the encoder without media, because its limits depend on several settings together.
    private func checkOpened(_ configuration: EncoderConfiguration) throws(MediaError) {
        switch SettingsValidation.encoder(configuration).run() {
        case .problem(let message):
            throw .invalidSettings("\(codec.name) rejects the settings: \(message)")
        case .ignored(let setting) where bitRate != nil && setting.bitRate != nil:
            throw .invalidSettings(
                "`bitRate` is \(bitRate ?? 0); \(codec.name) supports \(setting.bitRate ?? 0) bits per second at most for \(layout) at \(sampleRate) Hz"
            )
        case .valid, .ignored, .outputs: break
        }
    }
}

extension AudioSettings.Codec {
    /// Name in libavcodec.
    var codecName: String {
        switch self {
        case .aac: CodecKeys.aac
        case .opus: CodecKeys.opus
        case .mp3: CodecKeys.mp3
        case .flac: CodecKeys.flac
        case .alac: CodecKeys.alac
        case .pcm(.int16): CodecKeys.int16
        case .pcm(.int24): CodecKeys.int24
        case .pcm(.int32): CodecKeys.int32
        case .pcm(.float32): CodecKeys.float32
        }
    }

    /// Name for messages.
    var name: String {
        switch self {
        case .aac: "AAC"
        case .opus: "Opus"
        case .mp3: "MP3"
        case .flac: "FLAC"
        case .alac: "Apple Lossless"
        case .pcm: "PCM"
        }
    }
}
