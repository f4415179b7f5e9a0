extension CodecModel {
    /// AV1 by SVT-AV1.
    static let av1: CodecModel = {
        var model = video("av1", encoders: ["libsvtav1"])
        model.constantQuality = ConstantQuality(maximum: 63, usual: 35, stepsPerHalf: 9, isWhole: true)
        model.qpRange = 0...63
        model.defaultRate = "crf 35"
        model.bitsPerPixel = 0.04
        model.presets = (0...13).map(String.init)
        model.roundsToChroma = true
        return model
    }()
}
