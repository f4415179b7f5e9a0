extension EncoderModel {
    /// The VAAPI hardware encoder for H.264. Frames are uploaded into the memory of the device.
    static let h264VAAPI: EncoderModel = {
        var model = EncoderModel("h264_vaapi", codec: "h264", .video)
        model.requirement = .deviceFrames("vaapi")
        model.debianPackage = .named("va-driver-all")
        model.rate.qpRange = 1...52
        model.rate.defaultQP = 23
        model.rate.acceptsMaxBitRate = true
        model.rate.defaultRate = "qp 23"
        model.estimate.bitsPerPixel = 0.1
        model.conformance.profiles =
            [Profile(name: "constrained_baseline", hasBFrames: false)]
            + ["main", "high"].map { Profile(name: $0) }
        model.conformance.levels = [
            "1", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5", "5.1",
            "5.2",
            "6", "6.1", "6.2",
        ]
        model.gop.maxBFrames = 7
        model.frames.roundsToChroma = true
        model.frames.pixelFormats = ["nv12"]
        model.privateOptions.options = "low_power b_depth quality coder aud"
        return model
    }()
}
