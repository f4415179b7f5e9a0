internal import LibAV

/// Comparison of requested encoder settings with those in effect after the encoder is opened. Encoders
/// silently lower a profile that neither the frames nor other settings require, and use the nearest bit rate
/// that they support.
enum EncoderAnswer {
    /// Returns the first setting for which the encoder uses another value; nil if there is none.
    static func unheeded(
        _ configuration: EncoderConfiguration, _ made: CodecParameters
    ) -> SettingsTrial.Unheeded? {
        profile(configuration, made.extradata) ?? level(configuration, made.extradata)
            ?? bitRate(configuration, made)
    }

    private static func asked(_ key: String, _ configuration: EncoderConfiguration) -> String? {
        configuration.options.last { $0.key == key }?.value
    }

    // MARK: Profile and level

    private static func profile(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> SettingsTrial.Unheeded? {
        guard let asked = asked("profile", configuration) else { return nil }
        let model = EncoderModel.of(configuration.encoder)
        if let made = model.profileOfFormat?(configuration.pixelFormat) {
            return asked == made ? nil : SettingsTrial.Unheeded(setting: "profile", made: "profile \(made)")
        }
        // Lossless H.264 has a profile of its own, whichever one is requested.
        guard let wanted = model.profiles?.first(where: { $0.name == asked })?.number,
            let made = numbers(model, extradata)?.profile, made != wanted
        else { return nil }
        let name = model.profiles?.first { $0.number == made }?.title ?? "profile \(made)"
        return SettingsTrial.Unheeded(setting: "profile", made: name)
    }

    private static func level(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> SettingsTrial.Unheeded? {
        let model = EncoderModel.of(configuration.encoder)
        guard let asked = configuration.value(at: model.levelPlace).flatMap(Double.init),
            let made = numbers(model, extradata)?.level
        else { return nil }
        let level = Double(made) / model.levelUnit
        let isSame = abs(level - asked) < 0.01 || abs(level - asked / 10) < 0.01
        return isSame ? nil : SettingsTrial.Unheeded(setting: "level", made: "level \(level)")
    }

    /// Returns profile and level from the codec's headers.
    private static func numbers(
        _ model: EncoderModel, _ extradata: [UInt8]
    ) -> (profile: UInt8, level: UInt8)? {
        switch model.headers {
        case .avc:
            guard let record = AVCHeaders(extradata)?.configurationRecord, record.count > 3 else {
                return nil
            }
            return (record[1], record[3])
        case .hevc:
            guard let record = HEVCHeaders(extradata)?.configurationRecord, record.count > 12 else {
                return nil
            }
            return (record[1] & 0x1f, record[12])
        case nil: return nil
        }
    }

    // MARK: Bit rates

    private static func bitRate(
        _ configuration: EncoderConfiguration, _ made: CodecParameters
    ) -> SettingsTrial.Unheeded? {
        guard configuration.mediaType == .audio, let asked = configuration.bitRate, asked > 0 else {
            return nil
        }
        let rates = EncoderModel.of(configuration.encoder).bitRates?(configuration.sampleRate)
        let taken = rates?.min { abs($0 - asked) < abs($1 - asked) } ?? made.bitRate
        guard taken > 0, taken != asked else { return nil }
        return SettingsTrial.Unheeded(
            setting: "bitrate", made: taken % 1000 == 0 ? "\(taken / 1000)k" : "\(taken)", bitRate: taken)
    }
}
