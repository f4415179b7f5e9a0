extension EncoderModel {
    /// Intel's hardware encoder (Quick Sync Video) for H.264.
    static let h264QSV: EncoderModel = {
        var model = EncoderModel("h264_qsv", codec: "h264", .video)
        model.requirement = .device
        model.constantQuality = ConstantQuality(
            maximum: 51, defaultValue: 25, stepsPerHalf: 6, minimum: 1, isWhole: true,
            option: .option("global_quality"))
        model.qpRange = 1...51
        model.qpOption = .quantizer
        model.acceptsMaxBitRate = true
        model.defaultRate = "crf 25"
        model.bitsPerPixel = 0.1
        model.presets = ["veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]
        model.profiles =
            [Profile(name: "baseline", hasBFrames: false)] + ["main", "high"].map { Profile(name: $0) }
        model.maxBFrames = 7
        model.roundsToChroma = true
        model.acceptsCaptions = true
        model.pixelFormats = ["nv12"]
        model.options = """
            look_ahead look_ahead_depth rdo mbbrc extbrc adaptive_i adaptive_b p_strategy b_strategy low_power cavlc aud a53cc
            """
        return model
    }()
}
