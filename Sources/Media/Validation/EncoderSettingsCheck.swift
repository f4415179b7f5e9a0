internal import LibAV

/// Comparison of requested encoder settings with the settings in effect after the encoder is opened. Encoders silently
/// lower a profile that neither the frames nor other settings require, and use the nearest bit rate that they support.
enum EncoderSettingsCheck {
    /// Returns the first setting for which the encoder uses another value; nil if there is none.
    static func ignoredSetting(
        _ configuration: EncoderConfiguration, _ actual: CodecParameters
    ) -> SettingsValidation.IgnoredSetting? {
        profile(configuration, actual.extradata) ?? level(configuration, actual.extradata)
            ?? bitRate(configuration, actual)
    }

    private static func requested(_ key: String, _ configuration: EncoderConfiguration) -> String? {
        configuration.options.last { $0.key == key }?.value
    }

    // MARK: Profile and level

    private static func profile(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> SettingsValidation.IgnoredSetting? {
        guard let requested = requested("profile", configuration), let model = configuration.model else {
            return nil
        }
        if let actual = model.conformance.profileOfFormat?(configuration.pixelFormat) {
            return requested == actual
                ? nil : SettingsValidation.IgnoredSetting(setting: .profile, actual: "profile \(actual)")
        }
        // Lossless H.264 has the profile High 4:4:4 Predictive, whichever one is requested.
        guard let expected = model.conformance.profiles?.first(where: { $0.name == requested })?.number,
            let actual = numbers(model, extradata)?.profile, actual != expected
        else { return nil }
        let name = model.conformance.profiles?.first { $0.number == actual }?.title ?? "profile \(actual)"
        return SettingsValidation.IgnoredSetting(setting: .profile, actual: name)
    }

    private static func level(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> SettingsValidation.IgnoredSetting? {
        guard let model = configuration.model,
            let requested = configuration.value(at: model.conformance.levelOption).flatMap(Double.init),
            let actual = numbers(model, extradata)?.level
        else { return nil }
        let level = Double(actual) / model.conformance.levelUnit
        let isSame = abs(level - requested) < 0.01 || abs(level - requested / 10) < 0.01
        return isSame ? nil : SettingsValidation.IgnoredSetting(setting: .level, actual: "level \(level)")
    }

    /// Returns profile and level from the codec's headers; nil for other codecs.
    private static func numbers(
        _ model: EncoderModel, _ extradata: [UInt8]
    ) -> (profile: UInt8, level: UInt8)? {
        switch model.conformance.headers {
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
        _ configuration: EncoderConfiguration, _ actual: CodecParameters
    ) -> SettingsValidation.IgnoredSetting? {
        guard configuration.mediaType == .audio, let requested = configuration.bitRate, requested > 0 else {
            return nil
        }
        let rates = configuration.model?.rate.bitRates?(configuration.sampleRate)
        let taken = rates?.min { abs($0 - requested) < abs($1 - requested) } ?? actual.bitRate
        guard taken > 0, taken != requested else { return nil }
        return SettingsValidation.IgnoredSetting(
            setting: .bitRate, actual: taken % 1000 == 0 ? "\(taken / 1000)k" : "\(taken)", bitRate: taken)
    }
}
