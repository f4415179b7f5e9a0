extension EncoderModel {
    /// The AV1 encoder SVT-AV1; see `SharedEncoder`.
    static let svtAV1: EncoderModel = {
        var model = EncoderModel("libsvtav1", codec: "av1", .video)
        model.aliases = ["svtav1", "svt-av1"]
        model.library = "libSvtAv1Enc."
        model.rate.constantQuality = ConstantQuality(
            maximum: 63, defaultValue: 35, stepsPerHalf: 9, isWhole: true)
        model.rate.qpRange = 0...63
        model.rate.defaultRate = "crf 35"
        // FFmpeg's wrapper has no two passes; SVT-AV1 1.4 rejects higher rates.
        model.rate.isFollowed = true
        model.rate.maximumBitRate = 100_000_000
        model.estimate.bitsPerPixel = 0.04
        model.tuning.presets = (0...13).map(String.init)
        model.tuning.speeds = (.option("preset"), ["12", "10", "8", "5"])
        model.frames.minimumSide = 64
        model.frames.roundsToChroma = true
        model.operation.isShared = true
        model.gop.honorsKeyframeRequests = { $0.bitRate == nil }
        model.gop.forcedKeyframes = { configuration in
            configuration.bitRate == nil ? (.entry("enable-force-key-frames", of: "svtav1-params"), "1") : nil
        }
        model.privateOptions.options =
            "svtav1-params hielevel la_depth tier sc_detection tile_columns tile_rows"
        model.privateOptions.parameterLists = [
            "svtav1-params": """
            aq-mode:i bias-pct:i buf-initial-sz:i buf-optimal-sz:i buf-sz:i chroma-sample-position:w \
            content-light:2 enable-cdef:i enable-dlf:i enable-hdr:b enable-mfmv:i \
            enable-overlays:b enable-qm:b enable-restoration:i enable-tf:i fast-decode:i film-grain:i \
            film-grain-denoise:b hierarchical-levels:i irefresh-type:i lookahead:i lp:i mastering-display:w \
            max-qp:i max-section-pct:i maxsection-pct:i mbr:i min-qp:i minsection-pct:i overshoot-pct:i pin:i \
            pred-struct:i qm-max:0..15 qm-min:0..15 rc:i recode-loop:i scd:i scm:i sframe-dist:i sframe-mode:i ss:i \
            superres-denom:i superres-kf-denom:i superres-mode:i superres-kf-qthres:i superres-qthres:i \
            tile-columns:i tile-rows:i tune:i undershoot-pct:i
            """
        ]
        return model
    }()
}
