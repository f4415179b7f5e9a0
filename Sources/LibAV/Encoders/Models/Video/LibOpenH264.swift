extension EncoderModel {
    /// The H.264 encoder OpenH264, which many FFmpeg builds without x264 contain.
    static let openH264: EncoderModel = {
        var model = EncoderModel("libopenh264", codec: "h264", .video)
        model.aliases = ["openh264"]
        model.library = "libopenh264."
        model.debianPackage = .unavailable
        model.rate.defaultRate = "the encoder's own"
        model.estimate.bitsPerPixel = 0.1
        model.conformance.profiles = ["constrained_baseline", "main", "high"].map { Profile(name: $0) }
        model.frames.roundsToChroma = true
        model.privateOptions.options = "loopfilter slices cabac allow_skip_frames coder"
        return model
    }()
}
