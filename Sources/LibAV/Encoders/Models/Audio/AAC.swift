extension EncoderModel {
    /// libavcodec's AAC encoder.
    static let aac: EncoderModel = {
        var model = EncoderModel("aac", codec: "aac", .audio)
        model.conformance.profiles = ["aac_low", "aac_main", "aac_ltp"].map { Profile(name: $0) }
        model.rate.defaultRate = "128k"
        model.rate.defaultBitRate = { channels in
            channels <= 1 ? 96_000 : channels == 2 ? 128_000 : 64_000 * Int64(channels)
        }
        model.samples.hasEncoderDelay = true
        // Layouts without a channel configuration are stored in a program config element, which few players
        // support, and which is wrong for 5.1(side).
        model.samples.layouts = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"]
        model.privateOptions.options = "aac_coder aac_ms aac_is aac_pns aac_tns aac_ltp aac_pred aac_pce"
        return model
    }()
}
