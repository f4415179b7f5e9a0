extension EncoderModel {
    /// libavcodec's GIF encoder.
    static let gif: EncoderModel = {
        var model = EncoderModel("gif", codec: "gif", .video)
        model.purposes = [.animations]
        model.acceptsKeyframeInterval = false
        model.acceptsBitRate = false
        model.defaultRate = "256 colours"
        model.bitsPerPixel = 4
        // All frames share one palette, which is computed from the whole animation.
        model.composed = (frames: ["rgb24", "rgba"], encoded: "pal8")
        return model
    }()
}
