extension EncoderModel {
    /// The Opus encoder libopus.
    static let opus: EncoderModel = {
        var model = EncoderModel("libopus", codec: "opus", .audio)
        model.library = "libopus."
        model.rate.defaultRate = "by channels"
        model.rate.defaultBitRate = { 48_000 * Int64(max(1, $0)) }
        model.samples.hasEncoderDelay = true
        // FFmpeg 5.1 passes 5.0 and 6.1 to libopus in a wrong channel order.
        model.samples.layouts = ["mono", "stereo", "3.0", "quad", "5.1", "7.1"]
        model.privateOptions.options =
            "application frame_duration packet_loss fec vbr mapping_family apply_phase_inv"
        return model
    }()
}
