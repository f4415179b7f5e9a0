internal import LibAV

extension CodecModel {
    /// VP9 by libvpx.
    static let vp9: CodecModel = {
        var model = video("vp9", encoders: ["libvpx-vp9"])
        model.constantQuality = ConstantQuality(
            maximum: 63, usual: 32, stepsPerHalf: 9, needsZeroBitRate: true)
        model.takesMaxBitRate = true
        model.lossless = .set(.option("lossless"), to: "1")
        model.defaultRate = "crf 32"
        model.bitsPerPixel = 0.05
        model.presets = ["good", "best", "realtime"]
        model.presetPlace = .option("deadline")
        model.profiles = ["0", "1", "2", "3"]
        model.levels = ["1", "1.1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"]
        model.takesTwoPasses = true
        // libvpx's real-time mode writes no statistics; 1 is its number.
        model.presetsOfOnePass = ["realtime", "1"]
        // libvpx spends bits by counts of its tick.
        model.countsFramesInTwoPasses = true
        // What its header can say; `color_space` is all it has.
        model.matrices = ["bt709", "bt470bg", "smpte170m", "smpte240m", "bt2020nc", "gbr"]
        model.putsAlphaBeside = true
        model.suits = { format, _, holdsAlphaBeside in !format.hasAlpha || holdsAlphaBeside }
        return model
    }()
}
