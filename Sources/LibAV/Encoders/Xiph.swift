extension EncoderTraits {
    /// libopus.
    static let opus: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libopus."
        return traits
    }()

    /// libvorbis, whose encoder is a library of its own.
    static let vorbis: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libvorbisenc."
        return traits
    }()
}
