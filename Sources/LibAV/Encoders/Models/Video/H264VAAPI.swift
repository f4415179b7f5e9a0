extension EncoderModel {
    /// The VAAPI hardware encoder for H.264. Frames are uploaded into the memory of the device.
    static let h264VAAPI: EncoderModel = {
        var model = EncoderModel("h264_vaapi", codec: "h264", .video)
        model.requirement = .deviceFrames("vaapi")
        model.qpRange = 1...52
        model.defaultQP = 23
        model.acceptsMaxBitRate = true
        model.defaultRate = "qp 23"
        model.bitsPerPixel = 0.1
        model.profiles =
            [Profile(name: "constrained_baseline", hasBFrames: false)]
            + ["main", "high"].map { Profile(name: $0) }
        model.levels = [
            "1", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5", "5.1",
            "5.2",
            "6", "6.1", "6.2",
        ]
        model.maxBFrames = 7
        model.roundsToChroma = true
        model.pixelFormats = ["nv12"]
        model.options = "low_power b_depth quality coder aud"
        return model
    }()
}
