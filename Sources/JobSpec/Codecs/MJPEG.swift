internal import LibAV

extension CodecModel {
    /// Motion JPEG by FFmpeg's own encoder.
    static let mjpeg: CodecModel = {
        var model = video("mjpeg", encoders: ["mjpeg"])
        model.qpRange = 2...31
        model.qpPlace = .quantizer
        model.usualQP = 3
        model.takesKeyframeInterval = false
        model.defaultRate = "qp 3"
        model.bitsPerPixel = 0.9
        model.fixedColor = .jpeg
        // It means full range; libav's other formats for it are unofficial.
        model.suits = { format, _, _ in format.isFullRangeByName }
        return model
    }()
}
