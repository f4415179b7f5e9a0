extension EncoderModel {
    /// libavcodec's ProRes encoder by Kostya Shishkov.
    static let proresKS: EncoderModel = {
        var model = EncoderModel("prores_ks", codec: "prores", .video)
        model.acceptsBitRate = false
        model.acceptsKeyframeInterval = false
        model.defaultRate = "by profile"
        model.bitsPerPixel = 2.2
        model.profiles = ["proxy", "lt", "standard", "hq", "4444", "4444xq"].map { Profile(name: $0) }
        model.fields = .coded
        model.roundsToChroma = true
        // The profile determines the chroma subsampling.
        model.supports = { format, profile, _ in
            (format.chromaSubsampling == (1, 1)) == (profile?.hasPrefix("4444") == true)
        }
        model.options = "mbs_per_slice vendor:w bits_per_mb quant_mat alpha_bits"
        return model
    }()
}
