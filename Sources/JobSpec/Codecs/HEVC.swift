extension CodecModel {
    /// H.265 by x265.
    static let hevc: CodecModel = {
        var model = video("hevc", encoders: ["libx265"])
        model.constantQuality = ConstantQuality(maximum: 51, usual: 28, stepsPerHalf: 6)
        model.qpRange = 0...51
        model.takesMaxBitRate = true
        model.lossless = .set(.entry("lossless", of: "x265-params"), to: "1")
        model.defaultRate = "crf 28"
        model.bitsPerPixel = 0.05
        model.presets = x26xPresets
        model.profiles = ["main", "main10", "main12", "main422-10", "main444-8", "main444-10"]
        model.levels = ["1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"]
        model.levelPlace = .entry("level-idc", of: "x265-params")
        model.tunes = ["psnr", "ssim", "grain", "zerolatency", "fastdecode", "animation"]
        model.maxBFrames = 16
        model.bFramesPlace = .entry("bframes", of: "x265-params")
        // It talks to the terminal otherwise.
        model.always = [(.entry("log-level", of: "x265-params"), "error")]
        model.takesTwoPasses = true
        model.keepsNotesOnDisk = true
        model.roundsToChroma = true
        model.nearLossless = (crf: 12, preset: "veryfast")
        return model
    }()
}
