extension EncoderModel {
    /// The MP3 encoder LAME.
    static let lame: EncoderModel = {
        var model = EncoderModel("libmp3lame", codec: "mp3", .audio)
        model.library = "libmp3lame."
        model.rate.defaultRate = "128k"
        model.rate.defaultBitRate = { _ in 128_000 }
        model.rate.bitRates = { rate in
            let rates: [Int64] =
                rate >= 32_000
                ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
                : rate >= 16_000
                    ? [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
                    : [8, 16, 24, 32, 40, 48, 56, 64]
            return rates.map { $0 * 1000 }
        }
        model.rate.qualities = 0...9
        model.samples.hasEncoderDelay = true
        model.privateOptions.options = "reservoir joint_stereo abr"
        return model
    }()
}
