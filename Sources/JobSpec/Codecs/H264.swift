extension CodecModel {
    /// H.264 by x264.
    static let h264: CodecModel = {
        var model = video("h264", encoders: ["libx264"])
        model.constantQuality = ConstantQuality(maximum: 51, usual: 23, stepsPerHalf: 6)
        model.qpRange = 0...51
        model.takesMaxBitRate = true
        model.lossless = .set(.option("qp"), to: "0")
        model.defaultRate = "crf 23"
        model.bitsPerPixel = 0.08
        model.presets = x26xPresets
        model.profiles = ["baseline", "main", "high", "high10", "high422", "high444"]
        model.levels = [
            "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5",
            "5.1", "5.2", "6", "6.1", "6.2",
        ]
        model.tunes = [
            "film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency",
        ]
        model.maxBFrames = 16
        model.takesTwoPasses = true
        model.keepsNotesOnDisk = true
        model.fields = .coded
        model.roundsToChroma = true
        model.nearLossless = (crf: 12, preset: "veryfast")
        return model
    }()
}
