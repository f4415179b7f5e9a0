extension EncoderModel {
    /// The H.264 encoder x264.
    static let x264: EncoderModel = {
        var model = EncoderModel("libx264", codec: "h264", .video)
        model.aliases = ["x264"]
        model.library = "libx264."
        model.rate.constantQuality = ConstantQuality(maximum: 51, defaultValue: 23, stepsPerHalf: 6)
        model.rate.qpRange = 0...51
        model.rate.acceptsMaxBitRate = true
        model.rate.lossless = .set(.option("qp"), to: "0")
        model.rate.defaultRate = "crf 23"
        model.estimate.bitsPerPixel = 0.08
        model.tuning.presets = x26xPresets
        model.tuning.speeds = (.option("preset"), ["ultrafast", "veryfast", "medium", "slow"])
        model.conformance.profiles = [
            Profile(name: "baseline", number: 66, title: "Constrained Baseline", hasBFrames: false),
            Profile(name: "main", number: 77, title: "Main"),
            Profile(name: "high", number: 100, title: "High"),
            Profile(name: "high10", number: 110, title: "High 10"),
            Profile(name: "high422", number: 122, title: "High 4:2:2"),
            Profile(name: "high444", number: 244, title: "High 4:4:4 Predictive"),
        ]
        model.conformance.levels = [
            "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5",
            "5.1", "5.2", "6", "6.1", "6.2",
        ]
        model.conformance.headers = .avc
        model.tuning.tunes = [
            "film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency",
        ]
        model.gop.maxBFrames = 16
        model.twoPasses = TwoPasses(statistics: .file(option: "stats"))
        model.frames.fields = .coded
        model.frames.bottomFieldFirst = ("x264-params", "bff")
        model.frames.roundsToChroma = true
        model.frames.acceptsCaptions = true
        model.nearLossless = NearLossless(crf: 12, preset: "veryfast", parameters: "x264-params")
        // The ultrafast preset is at least as fast as decoding, which runs concurrently: with one thread per core,
        // frame threads wait less for each other than with x264's default of 1.5 per core. Measured on two cores,
        // seconds with one, two and three threads: 1.82, 1.82, 1.83 at 0.02 bits per pixel; 2.57, 2.40, 2.32 at 0.25;
        // 3.11, 2.75, 2.64 at 1. If decoding is expensive, and for slower presets, x264's default is best.
        model.operation.threads = { cores, bitsPerPixel, preset in
            bitsPerPixel < 0.75 && preset == "ultrafast" ? max(1, cores) : nil
        }
        // `x264_encoder_open`: no more than one for two rows of macroblocks.
        model.operation.automaticThreads = { processors, height in
            min(processors * 3 / 2, (height + 15) / 16 / 2)
        }
        model.gop.forcedKeyframes = { _ in (.option("forced-idr"), "1") }
        model.operation.chunkSettings = []
        model.privateOptions.options = """
            x264-params fastfirstpass a53cc crf_max aq-mode aq-strength psy psy-rd:n rc-lookahead \
            weightb weightp wpredp:i ssim intra-refresh bluray-compat b-bias b-pyramid mixed-refs 8x8dct \
            fast-pskip aud mbtree deblock:n cplxblur partitions:w direct-pred slice-max-size nal-hrd \
            avcintra-class me_method/motion-est forced-idr coder b_strategy chromaoffset sc_threshold \
            noise_reduction udu_sei
            """
        model.privateOptions.optionAliases = ["x264opts": "x264-params", "x264_opts": "x264-params"]
        model.privateOptions.parameterLists = [
            "x264-params": """
            8x8dct:b analyse:w partitions:w aq-mode:i aq-strength:d aud:b b-adapt:i b-bias:i b-pyramid:w \
            bluray-compat:b cabac:b chroma-me:b chroma-qp-offset:i constrained-intra:b cplxblur:d \
            cqm:=flat|jvt crf-max:d dct-decimate:b deadzone-inter:i deadzone-intra:i deblock/filter:n \
            deterministic:b direct/direct-pred:w fast-pskip:b filler:b intra-refresh:b ipratio/ip-factor:d \
            lookahead-threads:i mbtree:b me:w merange/me-range:i min-keyint/keyint-min:i mixed-refs:b mvrange:i \
            mvrange-thread:i nal-hrd:w no-8x8dct:b no-cabac:b no-chroma-me:b no-dct-decimate:b no-deblock:b \
            no-fast-pskip:b no-mbtree:b no-mixed-refs:b no-psy:b no-weightb:b nr:i open-gop:b \
            opencl:=0 overscan:w pbratio/pb-factor:d pic-struct:b psy:b psy-rd:n qblur:d qcomp:d qpmax:i qpmin:i \
            qpstep:i ratetol:d rc-lookahead:i ref/frameref:i scenecut:i slice-max-mbs:i slice-max-size:i \
            slice-min-mbs:i slices:i slices-max:i sliced-threads:b stitchable:b subme/subq:i sync-lookahead:i \
            trellis:i vbv-init:d videoformat:w weightb:b weightp:i zones:z
            """
        ]
        return model
    }()

    /// Presets of x264 and x265.
    static let x26xPresets = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
        "placebo",
    ]
}
