extension EncoderModel {
    /// 16-bit integer samples.
    static let pcm16 = losslessAudio("pcm_s16le")
    /// 24-bit integer samples.
    static let pcm24 = losslessAudio("pcm_s24le")
    /// 32-bit integer samples.
    static let pcm32 = losslessAudio("pcm_s32le")
    /// 32-bit floating-point samples.
    static let pcmFloat = losslessAudio("pcm_f32le")
}
