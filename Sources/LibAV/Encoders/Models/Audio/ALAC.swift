extension EncoderModel {
    /// libavcodec's Apple Lossless encoder.
    static let alac: EncoderModel = {
        var model = losslessAudio("alac")
        model.samples.bitDepths = [16, 24]
        model.estimate.compression = 0.6
        // The bitstream stores only the number of channels, which implies the layout.
        model.samples.layouts = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1(wide)"]
        return model
    }()
}
