internal import LibAV

/// What an encoder makes of what it was asked for, as far as it tells when it is opened: encoders lower a profile that the
/// frames or the other settings don't need, and take the next bit rate that they have, without a word.
enum EncoderAnswer {
    /// The first setting that comes out otherwise; nil where all come out as asked.
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

    /// `profile_idc`, and the names that job files and people have for it.
    private static let profiles: [String: [(asked: String, number: UInt8, name: String)]] = [
        "libx264": [
            ("baseline", 66, "Constrained Baseline"), ("main", 77, "Main"), ("high", 100, "High"),
            ("high10", 110, "High 10"), ("high422", 122, "High 4:2:2"),
            ("high444", 244, "High 4:4:4 Predictive"),
        ],
        "libx265": [
            ("main", 1, "Main"), ("main10", 2, "Main 10"), ("main12", 4, "a range extension"),
            ("main422-10", 4, "a range extension"), ("main444-8", 4, "a range extension"),
            ("main444-10", 4, "a range extension"),
        ],
    ]

    private static func profile(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> SettingsTrial.Unheeded? {
        guard let asked = asked("profile", configuration) else { return nil }
        if configuration.encoder == "libvpx-vp9" { return vp9Profile(configuration, asked) }
        // What is lossless has a profile of its own in H.264, which every other profile lacks.
        guard let known = profiles[configuration.encoder],
            let wanted = known.first(where: { $0.asked == asked }),
            let made = numbers(configuration, extradata)?.profile, made != wanted.number
        else { return nil }
        let name = known.first { $0.number == made }?.name ?? "profile \(made)"
        return SettingsTrial.Unheeded(setting: "profile", made: name)
    }

    /// libvpx fails with its first frame where they don't fit each other.
    private static func vp9Profile(_ configuration: EncoderConfiguration, _ asked: String) -> SettingsTrial
        .Unheeded?
    {
        let format = configuration.pixelFormat
        let made = (format.bitDepth > 8 ? 2 : 0) + (format.chromaSubsampling == (2, 2) ? 0 : 1)
        return asked == "\(made)" ? nil : SettingsTrial.Unheeded(setting: "profile", made: "profile \(made)")
    }

    private static func level(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> SettingsTrial.Unheeded? {
        let text =
            asked("level", configuration)
            ?? configuration.parameters.lazy.flatMap(\.entries).first { $0.key == "level-idc" }?.value
        guard let asked = text.flatMap(Double.init), let made = numbers(configuration, extradata)?.level
        else {
            return nil
        }
        // H.264 counts tenths, HEVC thirtieths.
        let level = Double(made) / (configuration.encoder == "libx265" ? 30 : 10)
        let isSame = abs(level - asked) < 0.01 || abs(level - asked / 10) < 0.01
        return isSame ? nil : SettingsTrial.Unheeded(setting: "level", made: "level \(level)")
    }

    /// Profile and level as the codec's headers have them.
    private static func numbers(
        _ configuration: EncoderConfiguration, _ extradata: [UInt8]
    ) -> (profile: UInt8, level: UInt8)? {
        switch configuration.encoder {
        case "libx264":
            guard let record = AVCHeaders(extradata)?.configurationRecord, record.count > 3 else {
                return nil
            }
            return (record[1], record[3])
        case "libx265":
            guard let record = HEVCHeaders(extradata)?.configurationRecord, record.count > 12 else {
                return nil
            }
            return (record[1] & 0x1f, record[12])
        default: return nil
        }
    }

    // MARK: Bit rates

    private static func bitRate(
        _ configuration: EncoderConfiguration, _ made: CodecParameters
    ) -> SettingsTrial.Unheeded? {
        guard configuration.mediaType == .audio, let asked = configuration.bitRate, asked > 0 else {
            return nil
        }
        let taken =
            configuration.encoder == "libmp3lame"
            ? layer3(asked, sampleRate: configuration.sampleRate) : made.bitRate
        guard taken > 0, taken != asked else { return nil }
        return SettingsTrial.Unheeded(
            setting: "bitrate", made: taken % 1000 == 0 ? "\(taken / 1000)k" : "\(taken)", bitRate: taken)
    }

    /// The nearest of Layer III's rates at a sample rate, which LAME takes.
    private static func layer3(_ rate: Int64, sampleRate: Int32) -> Int64 {
        let rates: [Int64] =
            sampleRate >= 32_000
            ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
            : sampleRate >= 16_000
                ? [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
                : [8, 16, 24, 32, 40, 48, 56, 64]
        return rates.map { $0 * 1000 }.min { abs($0 - rate) < abs($1 - rate) } ?? rate
    }
}
