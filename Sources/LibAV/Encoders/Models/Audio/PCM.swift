extension EncoderModel {
    /// PCM with 16-bit integer samples.
    static let pcm16 = losslessAudio("pcm_s16le")
    /// PCM with 24-bit integer samples.
    static let pcm24 = losslessAudio("pcm_s24le")
    /// PCM with 32-bit integer samples.
    static let pcm32 = losslessAudio("pcm_s32le")
    /// PCM with 32-bit floating-point samples.
    static let pcmFloat = losslessAudio("pcm_f32le")
}
