extension EncoderModel {
    /// The WebP encoder libwebp for animations.
    static let animatedWebP: EncoderModel = {
        var model = EncoderModel("libwebp_anim", codec: "webp", .video)
        model.purposes = [.animations]
        model.takesKeyframeInterval = false
        model.takesBitRate = false
        model.stillQuality = StillQuality(defaultValue: 80) { $0 }
        model.qpPlace = .option("quality")
        model.bitsPerPixel = 0.4
        model.suits = { format, _, _ in format.isRGB }
        return model
    }()
}
