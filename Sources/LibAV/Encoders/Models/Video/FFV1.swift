extension EncoderModel {
    /// libavcodec's FFV1 encoder.
    static let ffv1: EncoderModel = {
        var model = EncoderModel("ffv1", codec: "ffv1", .video)
        model.rate.acceptsBitRate = false
        model.rate.lossless = .always
        model.rate.defaultRate = "lossless"
        model.estimate.bitsPerPixel = 6
        model.frames.fields = .marked
        model.privateOptions.options = "slicecrc coder context"
        return model
    }()
}
