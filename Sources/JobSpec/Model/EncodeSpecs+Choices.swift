package import LibAV

extension EncoderOption {
    /// The option's value, or the values of its parameters.
    var choices: [(option: SettingOption, value: String)] {
        guard let parameters else { return [(.option(name.value), value.value)] }
        return parameters.map { (.entry($0.key, of: name.value), $0.value) }
    }
}

extension VideoEncodeSpec {
    /// The values that the job chooses for the encoder's options, besides the rate control.
    package var choices: EncoderChoices {
        var choices = EncoderChoices()
        choices.preset = preset?.value
        choices.profile = profile?.value
        choices.tune = tune?.value
        choices.level = level?.value
        choices.bFrames = bFrames?.value
        choices.options = options.flatMap(\.choices)
        return choices
    }
}

extension AudioEncodeSpec {
    /// The values that the job chooses for the encoder's options.
    package var choices: EncoderChoices {
        var choices = EncoderChoices()
        choices.profile = profile?.value
        choices.options = options.flatMap(\.choices)
        return choices
    }
}
