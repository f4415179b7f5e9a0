package import LibAV

/// Where an encoder takes a setting.
package enum SettingPlace: Sendable, Hashable {
    /// An option of its own.
    case option(String)
    /// An entry of an option that is a list of settings, such as `x265-params`.
    case entry(String, of: String)
    /// The quantizer of every frame (`AVCodecContext.global_quality`).
    case quantizer
}

extension EncoderConfiguration {
    /// Puts a setting where the encoder takes it.
    package mutating func set(_ value: String, at place: SettingPlace) {
        switch place {
        case .option(let key): options.append(MetadataEntry(key: key, value: value))
        case .entry(let key, let list): set(key, to: value, in: list)
        case .quantizer: fixedQuantizer = Int(value)
        }
    }
}
