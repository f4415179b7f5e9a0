extension EncoderTraits {
    /// SVT-AV1. See `SharedEncoder`.
    static let svtAV1: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libSvtAv1Enc."
        traits.isShared = true
        return traits
    }()

    /// libaom.
    static let aom: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libaom."
        return traits
    }()
}
