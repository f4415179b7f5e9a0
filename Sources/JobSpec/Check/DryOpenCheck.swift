internal import Diagnostics
internal import LibAV
internal import Media

/// The dry opens of encoders and filters that settings require: checks that the run carries out before it starts.
enum DryOpenCheck {
    /// Returns the dry open of the encoder with these settings, at 640x360 unless the job sets a size; nil if none is
    /// needed.
    static func settings(_ spec: VideoEncodeSpec, encoder: EncoderInfo) -> SettingsCheck? {
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
        codec.encoder.set(spec.choices, in: &configuration)
        return SettingsCheck(
            validation: .encoder(configuration), precondition: availability(spec.codec.value, encoder),
            message: "\(encoder.name) can't be opened with these settings", rule: .codecSetting,
            range: spec.options.first?.name.range ?? spec.profile?.range ?? spec.range)
    }

    static func availabilityOfEncoder(
        _ codec: CodecSelection, _ encoder: EncoderInfo, at range: SourceRange?
    ) -> SettingsCheck? {
        guard let range, let validation = availability(codec, encoder) else { return nil }
        return SettingsCheck(
            validation: validation, message: "\(encoder.name) is not available on this machine",
            rule: .encoderMissing, range: range,
            help: codec.requirement == nil
                ? nil
                : "sandboxed workers can't access hardware devices; `--no-sandbox` disables the sandbox",
            isEnvironment: true)
    }

    /// Returns the dry open that determines whether an encoder is available on this machine; nil for the codec's
    /// automatic encoder, which is a software encoder and requires no device.
    private static func availability(_ codec: CodecSelection, _ encoder: EncoderInfo) -> SettingsValidation? {
        guard !codec.isAutomatic else { return nil }
        var configuration = plainConfiguration(codec, encoder)
        codec.encoder.set(EncoderChoices(), in: &configuration)
        return .encoder(configuration)
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

    static func filters(_ filters: Located<FilterChain>, _ type: MediaType) -> SettingsCheck {
        SettingsCheck(
            validation: .filters(filters.value, type), message: "can't configure the filters",
            rule: .filterChain,
            range: filters.range)
    }
}
