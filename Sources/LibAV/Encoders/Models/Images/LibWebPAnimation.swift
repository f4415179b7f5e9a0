extension EncoderModel {
    /// The WebP encoder libwebp for animations.
    static let animatedWebP: EncoderModel = {
        var model = EncoderModel("libwebp_anim", codec: "webp", .video)
        model.purposes = [.animations]
        model.acceptsKeyframeInterval = false
        model.acceptsBitRate = false
        model.imageQuality = ImageQuality(defaultValue: 80) { $0 }
        model.qpOption = .option("quality")
        model.bitsPerPixel = 0.4
        model.supports = { format, _, _ in format.isRGB }
        return model
    }()
}
