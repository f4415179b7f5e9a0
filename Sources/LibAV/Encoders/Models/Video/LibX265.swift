extension EncoderModel {
    /// The HEVC encoder x265.
    static let x265: EncoderModel = {
        var model = EncoderModel("libx265", codec: "hevc", .video)
        model.aliases = ["x265"]
        model.library = "libx265."
        model.rate.constantQuality = ConstantQuality(maximum: 51, defaultValue: 28, stepsPerHalf: 6)
        model.rate.qpRange = 0...51
        model.rate.acceptsMaxBitRate = true
        model.rate.lossless = .set(.entry("lossless", of: "x265-params"), to: "1")
        model.rate.defaultRate = "crf 28"
        model.estimate.bitsPerPixel = 0.05
        model.tuning.presets = x26xPresets
        model.tuning.speeds = (.option("preset"), ["ultrafast", "veryfast", "medium", "slow"])
        model.conformance.profiles =
            [
                Profile(name: "main", number: 1, title: "Main"),
                Profile(name: "main10", number: 2, title: "Main 10"),
            ]
            + ["main12", "main422-10", "main444-8", "main444-10"].map {
                Profile(name: $0, number: 4, title: "a range extension")
            }
        model.conformance.levels = [
            "1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2",
        ]
        model.conformance.levelOption = .entry("level-idc", of: "x265-params")
        model.conformance.headers = .hevc
        model.conformance.levelUnit = 30
        model.tuning.tunes = ["psnr", "ssim", "grain", "zerolatency", "fastdecode", "animation"]
        model.gop.maxBFrames = 16
        model.gop.bFramesOption = .entry("bframes", of: "x265-params")
        // With its default log level, x265 prints to the terminal.
        model.always = [(.entry("log-level", of: "x265-params"), "error")]
        model.twoPasses = TwoPasses(statistics: .fileInParameters(option: "x265-params"))
        model.frames.roundsToChroma = true
        model.nearLossless = NearLossless(crf: 12, preset: "veryfast", parameters: "x265-params")
        model.gop.forcedKeyframes = { _ in (.option("forced-idr"), "1") }
        // x265 3.5 subtracts the distance of the first and the third frame (with B-frames, and the second one with one of
        // them), which is uninitialized memory in shorter streams.
        model.operation.mistimesShortStreams = true
        // Without these features x265 starts no pool of threads. `pools=none` has the same effect, and leaks its copies of the
        // string (x265 3.5).
        model.operation.chunkSettings = [
            (.entry("frame-threads", of: "x265-params"), "1"), (.entry("wpp", of: "x265-params"), "0"),
            (.entry("pme", of: "x265-params"), "0"), (.entry("pmode", of: "x265-params"), "0"),
            (.entry("lookahead-slices", of: "x265-params"), "0"),
        ]
        model.privateOptions.options = "x265-params forced-idr udu_sei"
        model.privateOptions.parameterLists = [
            "x265-params": """
            amp:b aq-mode:i aq-motion:b aq-strength:d aud:b b-adapt:i b-intra:b b-pyramid:b bframe-bias:i \
            cbqpoffs:i chromaloc:i const-vbv:b constrained-intra:b cplxblur:d crf-max:d crf-min:d \
            crqpoffs:i ctu:i cu-lossless:b cutree:b deblock:n early-skip:b fades:b fast-intra:b frame-threads:i \
            gop-lookahead:i hash:i hdr10:b hdr10-opt:b hevc-aq:b high-tier:b hist-scenecut:b hme:b \
            hme-search:w hme-range:n hrd:b hrd-concat:b idr-recovery-sei:b intra-refresh:b ipratio:d \
            limit-modes:b limit-refs:i limit-sao:b limit-tu:i log-level:w lookahead-slices:i \
            lookahead-threads:i master-display:w max-ausize-factor:d max-cll:2 max-luma:i max-merge:i \
            max-tu-size:i me:w merange:i min-cu-size:i min-keyint:i min-luma:i nr-inter:i nr-intra:i open-gop:b \
            opt-cu-delta-qp:b opt-qp-pps:b opt-ref-list-length-pps:b overscan:w pbratio:d pme:b pmode:b pools:w \
            psy-rd:d psy-rdoq:d qblur:d qcomp:d qg-size:i qpmax:i qpmin:i qpstep:i radl:i rc-grain:b \
            rc-lookahead:i rd:i rd-refine:b rdoq-level/rdoq:i rdpenalty:i rect:b ref:i rskip:i \
            rskip-edge-threshold:d sao:b sao-non-deblock:b scenecut:i scenecut-bias:d selective-sao:i \
            signhide:b single-sei:b slices:i slow-firstpass:b splitrd-skip:b ssim-rd:b strict-cbr:b \
            strong-intra-smoothing:b subme:i temporal-layers:i temporal-mvp:b tskip:b tskip-fast:b \
            tu-inter-depth:i tu-intra-depth:i uhd-bd:b vbv-end:d vbv-init:d vbv-live-multi-pass:b videoformat:w \
            weightb:b weightp:b wpp:b zones:z no-amp:b no-b-intra:b no-b-pyramid:b no-cutree:b no-deblock:b \
            no-early-skip:b no-fast-intra:b no-open-gop:b no-psy-rd:b no-rect:b no-sao:b no-scenecut:b \
            no-signhide:b no-strong-intra-smoothing:b no-temporal-mvp:b no-weightb:b no-weightp:b no-wpp:b
            """
        ]
        return model
    }()
}
