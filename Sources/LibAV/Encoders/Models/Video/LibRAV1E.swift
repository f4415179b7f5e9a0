extension EncoderModel {
    /// The AV1 encoder rav1e.
    static let rav1e: EncoderModel = {
        var model = EncoderModel("librav1e", codec: "av1", .video)
        model.aliases = ["rav1e"]
        model.library = "librav1e."
        model.rate.qpRange = 0...255
        model.rate.defaultQP = 100
        model.rate.defaultRate = "qp 100"
        model.estimate.bitsPerPixel = 0.08
        model.tuning.presets = (0...10).map(String.init)
        model.tuning.speeds = (.option("speed"), ["10", "9", "7", "4"])
        model.tuning.presetOption = .option("speed")
        model.frames.roundsToChroma = true
        // Pixel formats that imply full range (`yuvj420p`) are deprecated; the range is declared separately.
        model.frames.supports = { format, _, _ in !format.isFullRangeByName }
        model.privateOptions.options = "tiles tile-rows tile-columns"
        return model
    }()
}
