extension CodecModel {
    /// Opus by libopus.
    static let opus: CodecModel = {
        var model = audio("opus", encoders: ["libopus"])
        model.defaultRate = "by channels"
        model.usualBitRate = { 48_000 * Int64(max(1, $0)) }
        model.beginsWithDelay = true
        model.hasOwnSampleRate = true
        // FFmpeg 5.1 hands 5.0 and 6.1 to libopus in a wrong order.
        model.layouts = ["mono", "stereo", "3.0", "quad", "5.1", "7.1"]
        return model
    }()
}
