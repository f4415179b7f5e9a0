extension CodecModel {
    /// FLAC by FFmpeg's own encoder.
    static let flac: CodecModel = {
        var model = losslessAudio("flac")
        model.bitDepths = [16, 24]
        model.compression = 0.6
        return model
    }()
}
