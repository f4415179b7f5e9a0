extension EncoderModel {
    /// libavcodec's ProRes encoder by Kostya Shishkov.
    static let proresKS: EncoderModel = {
        var model = EncoderModel("prores_ks", codec: "prores", .video)
        model.rate.acceptsBitRate = false
        model.gop.acceptsKeyframeInterval = false
        model.rate.defaultRate = "by profile"
        model.estimate.bitsPerPixel = 2.2
        model.conformance.profiles = ["proxy", "lt", "standard", "hq", "4444", "4444xq"].map {
            Profile(name: $0)
        }
        model.frames.fields = .coded
        model.frames.roundsToChroma = true
        // The profile determines the chroma subsampling.
        model.frames.supports = { format, profile, _ in
            (format.chromaSubsampling == (1, 1)) == (profile?.hasPrefix("4444") == true)
        }
        model.privateOptions.options = "mbs_per_slice vendor:w bits_per_mb quant_mat alpha_bits"
        return model
    }()
}
