/// Values that are chosen for an encoder's options, besides the rate control (`RateSetting`).
package struct EncoderChoices: Sendable {
    package var preset: String?
    package var profile: String?
    package var tune: String?
    package var level: String?
    /// The maximum number of consecutive B-frames.
    package var bFrames: Int?
    /// Further options, which override the values above.
    package var options: [(option: SettingOption, value: String)] = []

    package init() {}
}

extension EncoderModel {
    /// Sets the options of a configuration to chosen values, and then those that the model always sets.
    package func set(_ choices: EncoderChoices, in configuration: inout EncoderConfiguration) {
        if let preset = choices.preset { configuration.set(preset, at: tuning.presetOption) }
        if let profile = choices.profile { configuration.set(profile, at: .option("profile")) }
        if let tune = choices.tune { configuration.set(tune, at: tuning.tuneOption) }
        if let frames = choices.bFrames { configuration.set("\(frames)", at: gop.bFramesOption) }
        if let level = choices.level { configuration.set(level, at: conformance.levelOption) }
        for (option, value) in choices.options + always { configuration.set(value, at: option) }
    }
}
