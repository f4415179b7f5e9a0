extension CodecModel {
    /// MP3 by LAME.
    static let mp3: CodecModel = {
        var model = audio("mp3", encoders: ["libmp3lame"])
        model.defaultRate = "128k"
        model.usualBitRate = { _ in 128_000 }
        model.qualities = 0...9
        model.beginsWithDelay = true
        return model
    }()
}
