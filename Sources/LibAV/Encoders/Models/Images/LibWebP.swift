extension EncoderModel {
    /// The WebP encoder libwebp for still images.
    static let webp: EncoderModel = {
        var model = EncoderModel("libwebp", codec: "webp", .video)
        model.purposes = [.stillImages]
        model.acceptsKeyframeInterval = false
        model.acceptsBitRate = false
        model.imageQuality = ImageQuality(defaultValue: 80) { $0 }
        model.qpOption = .option("quality")
        model.bitsPerPixel = 0.5
        // libwebp converts colors to the matrix that its decoders assume.
        model.supports = { format, _, _ in format.isRGB }
        return model
    }()
}
