extension EncoderModel {
    /// libavcodec's Apple Lossless encoder.
    static let alac: EncoderModel = {
        var model = losslessAudio("alac")
        model.bitDepths = [16, 24]
        model.compression = 0.6
        // The bitstream stores only the number of channels, which implies the layout.
        model.layouts = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1(wide)"]
        return model
    }()
}
