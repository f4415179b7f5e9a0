extension EncoderModel {
    /// Intel's hardware encoder (Quick Sync Video) for H.264.
    static let h264QSV: EncoderModel = {
        var model = EncoderModel("h264_qsv", codec: "h264", .video)
        model.requirement = .device
        model.debianPackage = .named("intel-media-va-driver")
        model.rate.constantQuality = ConstantQuality(
            maximum: 51, defaultValue: 25, stepsPerHalf: 6, minimum: 1, isWhole: true,
            option: .option("global_quality"))
        model.rate.qpRange = 1...51
        model.rate.qpOption = .quantizer
        model.rate.acceptsMaxBitRate = true
        model.rate.defaultRate = "crf 25"
        model.estimate.bitsPerPixel = 0.1
        model.tuning.presets = ["veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]
        model.conformance.profiles =
            [Profile(name: "baseline", hasBFrames: false)] + ["main", "high"].map { Profile(name: $0) }
        model.gop.maxBFrames = 7
        model.frames.roundsToChroma = true
        model.frames.acceptsCaptions = true
        model.frames.pixelFormats = ["nv12"]
        model.privateOptions.options = """
            look_ahead look_ahead_depth rdo mbbrc extbrc adaptive_i adaptive_b p_strategy b_strategy low_power cavlc aud a53cc
            """
        return model
    }()
}
