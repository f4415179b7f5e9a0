extension EncoderModel {
    /// Uncompressed samples of 16 bits.
    static let pcm16 = losslessAudio("pcm_s16le")
    /// Uncompressed samples of 24 bits.
    static let pcm24 = losslessAudio("pcm_s24le")
    /// Uncompressed samples of 32 bits.
    static let pcm32 = losslessAudio("pcm_s32le")
    /// Uncompressed floating-point samples.
    static let pcmFloat = losslessAudio("pcm_f32le")
}
