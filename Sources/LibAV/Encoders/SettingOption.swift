/// The option by which a setting is passed to an encoder.
package enum SettingOption: Sendable, Hashable {
    /// An option of the encoder or of `AVCodecContext`.
    case option(String)
    /// A parameter of a list option, such as `x265-params`.
    case entry(String, of: String)
    /// The quantizer of every frame (`AVCodecContext.global_quality`).
    case quantizer
}

extension EncoderConfiguration {
    /// Sets an encoder option to a value. A list option contains only the last value of a parameter.
    package mutating func set(_ value: String, at option: SettingOption) {
        switch option {
        case .option(let key): options.append(MetadataEntry(key: key, value: value))
        case .entry(let key, let list): set(key, to: value, in: list)
        case .quantizer: fixedQuantizer = Int(value)
        }
    }

    /// Returns the value that an encoder option was last set to; nil if it isn't set.
    package func value(at option: SettingOption) -> String? {
        switch option {
        case .option(let key): options.last { $0.key == key }?.value
        case .entry(let key, let list):
            parameters.first { $0.option == list }?.entries.last { $0.key == key }?.value
        case .quantizer: fixedQuantizer.map(String.init)
        }
    }
}
