extension EncoderModel {
    /// The AV1 encoder libaom.
    static let aomAV1: EncoderModel = {
        var model = EncoderModel("libaom-av1", codec: "av1", .video)
        model.aliases = ["libaom", "aom"]
        model.library = "libaom."
        model.rate.constantQuality = ConstantQuality(
            maximum: 63, defaultValue: 32, stepsPerHalf: 9, isWhole: true, needsZeroBitRate: true)
        model.rate.lossless = .set(.entry("lossless", of: "aom-params"), to: "1")
        model.rate.defaultRate = "crf 32"
        model.estimate.bitsPerPixel = 0.04
        model.operation.automaticThreads = { processors, _ in processors }
        model.operation.chunkSettings = []
        model.tuning.presets = (0...8).map(String.init)
        model.tuning.speeds = (.option("cpu-used"), ["8", "6", "4", "2"])
        model.tuning.presetOption = .option("cpu-used")
        model.tuning.tunes = ["psnr", "ssim"]
        // Like libvpx, libaom distributes bits by ticks of its time base, not by frames.
        model.twoPasses = TwoPasses(countsFrames: true)
        model.frames.roundsToChroma = true
        model.privateOptions.options = """
            auto-alt-ref lag-in-frames arnr-max-frames arnr-strength aq-mode error-resilience static-thresh \
            drop-threshold denoise-noise-level denoise-block-size undershoot-pct overshoot-pct minsection-pct \
            maxsection-pct frame-parallel tiles tile-columns tile-rows row-mt enable-cdef enable-global-motion \
            enable-intrabc enable-restoration enable-palette enable-ref-frame-mvs enable-tx64 \
            enable-reduced-reference-set
            """
        return model
    }()
}
