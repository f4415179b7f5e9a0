extension EncoderModel {
    /// libavcodec's Motion JPEG encoder.
    static let mjpeg: EncoderModel = {
        var model = EncoderModel("mjpeg", codec: "mjpeg", .video)
        model.purposes = [.tracks, .stillImages]
        model.rate.qpRange = 2...31
        model.rate.qpOption = .quantizer
        model.rate.defaultQP = 3
        model.gop.acceptsKeyframeInterval = false
        model.rate.defaultRate = "qp 3"
        model.estimate.bitsPerPixel = 0.9
        // libavcodec classifies limited-range JPEG as unofficial.
        model.frames.supports = { format, _, _ in format.isFullRangeByName }
        // libjpeg's scale of the quantization tables in percent, divided by 12.5: the quantizer 8 corresponds to 100
        // %.
        model.rate.imageQuality = ImageQuality(defaultValue: 90) { quality in
            let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
            return min(31, max(1, Int((Double(percent) / 12.5).rounded())))
        }
        model.privateOptions.options = "huffman force_duplicated_matrix"
        return model
    }()
}
