extension EncoderModel {
    /// libavcodec's PNG encoder.
    static let png: EncoderModel = {
        var model = EncoderModel("png", codec: "png", .video)
        model.purposes = [.stillImages]
        model.gop.acceptsKeyframeInterval = false
        model.rate.acceptsBitRate = false
        model.rate.lossless = .always
        model.rate.defaultRate = "lossless"
        model.estimate.bitsPerPixel = 12
        // Formats with 8 bits per sample, which every viewer supports. Conversion to a palette or to 1-bit pixels
        // would lose data.
        model.frames.supports = { format, _, _ in
            ["rgb24", "rgba", "gray", "ya8"].contains(format.description)
        }
        return model
    }()
}
