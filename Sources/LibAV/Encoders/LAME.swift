extension EncoderTraits {
    /// LAME: of the bit rates that Layer III has at a sample rate, the nearest.
    static let lame: EncoderTraits = {
        var traits = EncoderTraits()
        traits.library = "libmp3lame."
        traits.bitRates = { rate in
            let rates: [Int64] =
                rate >= 32_000
                ? [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
                : rate >= 16_000
                    ? [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
                    : [8, 16, 24, 32, 40, 48, 56, 64]
            return rates.map { $0 * 1000 }
        }
        return traits
    }()
}
