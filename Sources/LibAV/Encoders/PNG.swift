extension EncoderModel {
    /// libavcodec's PNG encoder.
    static let png: EncoderModel = {
        var model = EncoderModel("png", codec: "png", .video)
        model.purposes = [.stillImages]
        model.acceptsKeyframeInterval = false
        model.acceptsBitRate = false
        model.lossless = .always
        model.defaultRate = "lossless"
        model.bitsPerPixel = 12
        // 8 bits per sample, which every viewer supports; conversion to a palette or to bitmaps would lose
        // data.
        model.supports = { format, _, _ in ["rgb24", "rgba", "gray", "ya8"].contains(format.description) }
        return model
    }()
}
