extension EncoderModel {
    /// rav1e for AV1.
    static let rav1e: EncoderModel = {
        var model = EncoderModel("librav1e", codec: "av1", .video)
        model.aliases = ["rav1e"]
        model.library = "librav1e."
        model.qpRange = 0...255
        model.defaultQP = 100
        model.defaultRate = "qp 100"
        model.bitsPerPixel = 0.08
        model.presets = (0...10).map(String.init)
        model.presetPlace = .option("speed")
        model.roundsToChroma = true
        // The formats for full range are deprecated; the range of the others says the same.
        model.suits = { format, _, _ in !format.isFullRangeByName }
        model.options = "tiles tile-rows tile-columns"
        return model
    }()
}
