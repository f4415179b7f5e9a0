extension EncoderModel {
    /// libavcodec's FFV1 encoder.
    static let ffv1: EncoderModel = {
        var model = EncoderModel("ffv1", codec: "ffv1", .video)
        model.acceptsBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        model.bitsPerPixel = 6
        model.fields = .marked
        model.options = "slicecrc coder context"
        return model
    }()
}
