/// The option with which a setting is passed to an encoder.
package enum SettingOption: Sendable, Hashable {
    /// A separate option.
    case option(String)
    /// An entry of an option that is a list of settings, such as `x265-params`.
    case entry(String, of: String)
    /// The quantizer of every frame (`AVCodecContext.global_quality`).
    case quantizer
}

extension EncoderConfiguration {
    /// Sets a setting with the option that the encoder has for it.
    package mutating func set(_ value: String, at option: SettingOption) {
        switch option {
        case .option(let key): options.append(MetadataEntry(key: key, value: value))
        case .entry(let key, let list): set(key, to: value, in: list)
        case .quantizer: fixedQuantizer = Int(value)
        }
    }

    /// Returns the value that was last set; nil if there is none.
    package func value(at option: SettingOption) -> String? {
        switch option {
        case .option(let key): options.last { $0.key == key }?.value
        case .entry(let key, let list):
            parameters.first { $0.option == list }?.entries.last { $0.key == key }?.value
        case .quantizer: fixedQuantizer.map(String.init)
        }
    }
}
