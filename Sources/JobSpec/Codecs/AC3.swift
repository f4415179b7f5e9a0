extension CodecModel {
    /// AC-3 by FFmpeg's own encoder.
    static let ac3: CodecModel = {
        var model = audio("ac3", encoders: ["ac3"])
        model.defaultRate = "by channels"
        model.usualBitRate = { $0 <= 2 ? 192_000 : 448_000 }
        model.beginsWithDelay = true
        return model
    }()
}
