extension CodecModel {
    /// FFV1 by FFmpeg's own encoder.
    static let ffv1: CodecModel = {
        var model = video("ffv1", encoders: ["ffv1"])
        model.takesBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        model.bitsPerPixel = 6
        model.fields = .marked
        return model
    }()
}
