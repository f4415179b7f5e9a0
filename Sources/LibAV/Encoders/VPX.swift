extension EncoderTraits {
    /// libvpx, VP8.
    static let vpx: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libvpx."
        return traits
    }()

    /// libvpx, VP9. It fails with its first frame where profile and format don't fit each other.
    static let vp9: EncoderTraits = {
        var traits = vpx
        traits.profileOfFormat = { format in
            "\((format.bitDepth > 8 ? 2 : 0) + (format.chromaSubsampling == (2, 2) ? 0 : 1))"
        }
        return traits
    }()
}
