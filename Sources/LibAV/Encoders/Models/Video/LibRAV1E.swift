extension EncoderModel {
    /// The AV1 encoder rav1e.
    static let rav1e: EncoderModel = {
        var model = EncoderModel("librav1e", codec: "av1", .video)
        model.aliases = ["rav1e"]
        model.library = "librav1e."
        model.qpRange = 0...255
        model.defaultQP = 100
        model.defaultRate = "qp 100"
        model.bitsPerPixel = 0.08
        model.presets = (0...10).map(String.init)
        model.speeds = (.option("speed"), ["10", "9", "7", "4"])
        model.presetOption = .option("speed")
        model.roundsToChroma = true
        // Pixel formats that imply full range (`yuvj420p`) are deprecated; the range is declared separately.
        model.supports = { format, _, _ in !format.isFullRangeByName }
        model.options = "tiles tile-rows tile-columns"
        return model
    }()
}
