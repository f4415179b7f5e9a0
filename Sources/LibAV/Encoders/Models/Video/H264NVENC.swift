extension EncoderModel {
    /// NVIDIA's hardware encoder for H.264.
    static let h264NVENC: EncoderModel = {
        var model = EncoderModel("h264_nvenc", codec: "h264", .video)
        model.requirement = .device
        model.debianPackage = .named("libnvidia-encode1")
        model.rate.constantQuality = ConstantQuality(
            maximum: 51, defaultValue: 23, stepsPerHalf: 6, needsZeroBitRate: true, option: .option("cq"))
        model.rate.qpRange = 0...51
        model.rate.acceptsMaxBitRate = true
        model.rate.defaultRate = "crf 23"
        model.estimate.bitsPerPixel = 0.1
        model.tuning.presets = (1...7).map { "p\($0)" }
        model.tuning.tunes = ["hq", "ll", "ull"]
        model.conformance.profiles =
            [Profile(name: "baseline", hasBFrames: false)]
            + ["main", "high", "high444p"].map { Profile(name: $0) }
        model.conformance.levels = [
            "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5",
            "5.1", "5.2",
        ]
        model.gop.maxBFrames = 4
        model.frames.roundsToChroma = true
        model.frames.acceptsCaptions = true
        // The encoder's other formats are frames in device memory, or RGB, which the device converts with an unknown
        // matrix.
        model.frames.pixelFormats = ["yuv420p", "nv12", "yuv444p"]
        model.gop.forcedKeyframes = { _ in (.option("forced-idr"), "1") }
        model.privateOptions.options = """
            rc-lookahead spatial-aq temporal-aq aq-strength zerolatency nonref_p strict_gop b_adapt b_ref_mode multipass \
            forced-idr a53cc weighted_pred coder no-scenecut
            """
        return model
    }()
}
