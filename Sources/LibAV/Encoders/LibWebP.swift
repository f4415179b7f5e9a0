extension EncoderModel {
    /// The WebP encoder libwebp for still images.
    static let webp: EncoderModel = {
        var model = EncoderModel("libwebp", codec: "webp", .video)
        model.purposes = [.stills]
        model.takesKeyframeInterval = false
        model.takesBitRate = false
        model.stillQuality = StillQuality(defaultValue: 80) { $0 }
        model.qpPlace = .option("quality")
        model.bitsPerPixel = 0.5
        // libwebp converts colors to the matrix that its decoders assume.
        model.suits = { format, _, _ in format.isRGB }
        return model
    }()
}
