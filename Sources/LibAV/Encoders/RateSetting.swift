/// The rate control that is set on an encoder.
package enum RateSetting: Hashable, Sendable {
    /// Constant quality (CRF), in thousandths.
    case crf(Int)
    /// Constant quantizer.
    case qp(Int)
    /// Quality of still images, from 1 to 100.
    case quality(Int)
    /// Average bit rate, in bits per second.
    case bitRate(Int64)
    case lossless
}

extension EncoderModel {
    /// Sets the options of a rate control, or of the default one if it is nil. A rate control that the encoder lacks has no
    /// effect; callers refuse it first.
    package func set(_ setting: RateSetting?, in configuration: inout EncoderConfiguration) {
        switch setting {
        case .crf(let value): setQuality(ThousandthsText.text(value), in: &configuration)
        case .qp(let value): configuration.set("\(value)", at: rate.qpOption)
        case .quality(let value):
            guard let quality = rate.imageQuality else { return }
            configuration.set("\(quality.step(value))", at: rate.qpOption)
        case .bitRate(let value): configuration.bitRate = value
        case .lossless:
            if case .set(let option, let value) = rate.lossless { configuration.set(value, at: option) }
        case nil:
            if let quality = rate.constantQuality {
                setQuality("\(quality.defaultValue)", in: &configuration)
            }
            if let quantizer = rate.defaultQP { configuration.set("\(quantizer)", at: rate.qpOption) }
        }
    }

    private func setQuality(_ text: String, in configuration: inout EncoderConfiguration) {
        guard let quality = rate.constantQuality else { return }
        configuration.set(text, at: quality.option)
        if quality.needsZeroBitRate { configuration.bitRate = 0 }
    }
}
