extension EncoderModel {
    /// NVIDIA's hardware encoder for HEVC.
    static let hevcNVENC: EncoderModel = {
        var model = EncoderModel("hevc_nvenc", codec: "hevc", .video)
        model.requirement = .device
        model.debianPackage = .named("libnvidia-encode1")
        model.rate.constantQuality = ConstantQuality(
            maximum: 51, defaultValue: 26, stepsPerHalf: 6, needsZeroBitRate: true, option: .option("cq"))
        model.rate.qpRange = 0...51
        model.rate.acceptsMaxBitRate = true
        model.rate.defaultRate = "crf 26"
        model.estimate.bitsPerPixel = 0.07
        model.tuning.presets = (1...7).map { "p\($0)" }
        model.tuning.tunes = ["hq", "ll", "ull"]
        model.conformance.profiles = ["main", "main10", "rext"].map { Profile(name: $0) }
        model.conformance.levels = [
            "1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2",
        ]
        model.gop.maxBFrames = 4
        model.frames.roundsToChroma = true
        model.frames.acceptsCaptions = true
        model.frames.pixelFormats = ["yuv420p", "nv12", "p010le", "yuv444p"]
        model.gop.forcedKeyframes = { _ in (.option("forced-idr"), "1") }
        model.privateOptions.options = """
            rc-lookahead spatial_aq temporal_aq aq-strength zerolatency nonref_p strict_gop b_ref_mode multipass forced-idr a53cc \
            weighted_pred no-scenecut tier
            """
        return model
    }()
}
