internal import LibAV

extension CodecModel {
    /// ProRes by FFmpeg's own encoder.
    static let prores: CodecModel = {
        var model = video("prores", encoders: ["prores_ks"])
        model.takesBitRate = false
        model.takesKeyframeInterval = false
        model.defaultRate = "by profile"
        model.bitsPerPixel = 2.2
        model.profiles = ["proxy", "lt", "standard", "hq", "4444", "4444xq"]
        model.fields = .coded
        model.fixedColor = .limited
        model.roundsToChroma = true
        // A profile is its chroma.
        model.suits = { format, profile, _ in
            (format.chromaSubsampling == (1, 1)) == (profile?.hasPrefix("4444") == true)
        }
        return model
    }()
}
