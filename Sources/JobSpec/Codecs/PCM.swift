extension CodecModel {
    /// Samples as they are, 16 bits.
    static let pcm16 = losslessAudio("pcm_s16le")
    /// What waveforms are measured of: samples of 16 bits.
    static let waveform: CodecModel = {
        var model = pcm16
        model.name = "waveform"
        return model
    }()
    /// Samples as they are, 24 bits.
    static let pcm24 = losslessAudio("pcm_s24le")
    /// Samples as they are, 32 bits.
    static let pcm32 = losslessAudio("pcm_s32le")
    /// Samples as they are, floating point.
    static let pcmFloat = losslessAudio("pcm_f32le")
}
