extension EncoderModel {
    /// The VP9 encoder libvpx. Encoding fails at the first frame if profile and pixel format don't match.
    static let vpxVP9: EncoderModel = {
        var model = EncoderModel("libvpx-vp9", codec: "vp9", .video)
        model.library = "libvpx."
        model.rate.constantQuality = ConstantQuality(
            maximum: 63, defaultValue: 32, stepsPerHalf: 9, needsZeroBitRate: true)
        model.rate.acceptsMaxBitRate = true
        model.rate.lossless = .set(.option("lossless"), to: "1")
        model.rate.defaultRate = "crf 32"
        model.estimate.bitsPerPixel = 0.05
        model.operation.automaticThreads = { processors, _ in processors }
        model.operation.chunkSettings = []
        model.tuning.presets = ["good", "best", "realtime"]
        model.tuning.presetOption = .option("deadline")
        model.tuning.speeds = (.option("cpu-used"), ["8", "5", "2", "1"])
        model.conformance.profiles = ["0", "1", "2", "3"].map { Profile(name: $0) }
        model.conformance.profileOfFormat = { format in
            "\((format.bitDepth > 8 ? 2 : 0) + (format.chromaSubsampling == (2, 2) ? 0 : 1))"
        }
        model.conformance.levels = [
            "1", "1.1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2",
        ]
        // The real-time deadline (`realtime` or 1) writes no statistics.
        // libvpx distributes bits by ticks of its time base, not by frames.
        model.twoPasses = TwoPasses(presetsOfOnePass: ["realtime", "1"], countsFrames: true)
        model.frames.writesSeparateAlpha = true
        model.frames.supports = { format, _, supportsSeparateAlpha in
            !format.hasAlpha || supportsSeparateAlpha
        }
        model.privateOptions.options = """
            lag-in-frames arnr-maxframes arnr-strength arnr-type arnr_max_frames arnr_strength arnr_type \
            tune error-resilient max-intra-rate static-thresh drop-threshold noise-sensitivity undershoot-pct \
            overshoot-pct auto-alt-ref cpu-used speed tile-columns tile-rows frame-parallel aq-mode row-mt \
            tune-content corpus-complexity enable-tpl rc_lookahead sharpness deadline quality
            """
        return model
    }()
}
