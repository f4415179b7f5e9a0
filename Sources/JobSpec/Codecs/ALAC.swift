extension CodecModel {
    /// Apple Lossless by FFmpeg's own encoder.
    static let alac: CodecModel = {
        var model = losslessAudio("alac")
        model.bitDepths = [16, 24]
        model.compression = 0.6
        // The number of channels says which they are.
        model.layouts = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1(wide)"]
        return model
    }()
}
