extension EncoderModel {
    /// The WebP encoder libwebp for animations.
    static let animatedWebP: EncoderModel = {
        var model = EncoderModel("libwebp_anim", codec: "webp", .video)
        model.purposes = [.animations]
        model.gop.acceptsKeyframeInterval = false
        model.rate.acceptsBitRate = false
        model.rate.imageQuality = ImageQuality(defaultValue: 80) { $0 }
        model.rate.qpOption = .option("quality")
        model.estimate.bitsPerPixel = 0.4
        model.frames.supports = { format, _, _ in format.isRGB }
        return model
    }()
}
