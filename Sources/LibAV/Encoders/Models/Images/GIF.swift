extension EncoderModel {
    /// libavcodec's GIF encoder.
    static let gif: EncoderModel = {
        var model = EncoderModel("gif", codec: "gif", .video)
        model.purposes = [.animations]
        model.gop.acceptsKeyframeInterval = false
        model.rate.acceptsBitRate = false
        model.rate.defaultRate = "256 colours"
        model.estimate.bitsPerPixel = 4
        // All frames share one palette, which is computed from the whole animation.
        model.frames.composed = (frames: ["rgb24", "rgba"], encoded: "pal8")
        return model
    }()
}
