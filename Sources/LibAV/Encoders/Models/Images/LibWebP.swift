extension EncoderModel {
    /// The WebP encoder libwebp for still images.
    static let webp: EncoderModel = {
        var model = EncoderModel("libwebp", codec: "webp", .video)
        model.purposes = [.stillImages]
        model.gop.acceptsKeyframeInterval = false
        model.rate.acceptsBitRate = false
        model.rate.imageQuality = ImageQuality(defaultValue: 80) { $0 }
        model.rate.qpOption = .option("quality")
        model.estimate.bitsPerPixel = 0.5
        // libwebp converts colors to the matrix that its decoders assume.
        model.frames.supports = { format, _, _ in format.isRGB }
        return model
    }()
}
