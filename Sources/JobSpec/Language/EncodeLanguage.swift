internal import LibAV
internal import Media

/// The keys of `encode`.
extension Language {
    static let bitRate = ValueType.oneOf([
        .integer(6000...1_000_000_000),
        .text(pattern: #"^([0-9]+(\.[0-9]+)? ?[kKmM]|[6-9][0-9]{3}|[0-9]{5,10})$"#, example: "128k"),
    ])
    private static let options = ValueType.mapOf(
        .oneOf([.string(), .number(-1e12...1e12), .boolean]), keys: .any)
    private static let use = KeyInfo(
        "use", .identifier, "Named settings to start from; what is written beside it wins.")

    static let videoEncode = MappingType(
        "videoEncode", "video `encode`", "How video is encoded.",
        keys: [
            use,
            KeyInfo("codec", .word(CodecCatalog.names(of: .video)), "The codec."),
            KeyInfo(
                "encoder", .word(CodecCatalog.encoderNames(of: .video)),
                "A particular encoder of the codec, of those under *Encoders*; hardware encoders are used only when named here.",
                default: "the codec's first software encoder that FFmpeg was built with"),
            KeyInfo("crf", .number(0...63), "Constant quality; lower is better."),
            KeyInfo("qp", .integer(0...255), "Constant quantiser."),
            KeyInfo("bitrate", bitRate, "Average bit rate."),
            KeyInfo("lossless", .boolean, "Without loss."),
            KeyInfo("max_bitrate", bitRate, "Highest bit rate, with `buffer_size`."),
            KeyInfo("buffer_size", bitRate, "Size of the rate-control buffer in bits."),
            KeyInfo(
                "passes", .integer(1...2), "2 looks at everything first and spends the `bitrate` better.",
                default: "1"),
            KeyInfo(
                "preset", .oneOf([.string(), .integer(0...13)]),
                "Speed against size, as the encoder names it."),
            KeyInfo("tune", .string(), "What the encoder optimises for, as it names it."),
            KeyInfo("profile", .oneOf([.string(), .integer(0...3)]), "The codec's profile."),
            KeyInfo(
                "level", .oneOf([.number(0.5...7), .text(pattern: #"^[1-7](\.[0-9])?b?$"#, example: "4.1")]),
                "The codec's level."),
            KeyInfo(
                "keyframe_interval", .oneOf([.integer(1...100_000), time]),
                "Most time or frames between key frames."),
            KeyInfo("b_frames", .integer(0...16), "Most B-frames in a row."),
            KeyInfo(
                "pixel_format", libavName("yuv420p"), "Pixel format, as libav names it.",
                default: "the source's, or the nearest that the encoder takes",
                examples: ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "yuv444p10le"]),
            KeyInfo(
                "size", dimensions,
                "Size in pixels, into which `fit` scales the frame; one side alone keeps its shape."),
            KeyInfo(
                "fit", .word(FrameFit.allCases.map(\.rawValue)),
                "How the frame is scaled into a `size` of another shape: uniformly, as large as fits (`inside`); the same with black bars up to the size (`contain`); uniformly, filling the size, with the rest cropped (`cover`); to exactly the size, distorted (`stretch`); like `inside`, but never enlarged, and with the size rotated for a portrait frame (`scale-down`). Pixels are square. Beside `pixel_aspect_ratio` it is always `stretch`.",
                default: "inside"),
            KeyInfo(
                "crop", .oneOf([.word(["clean_aperture"]), .mapping(crop)]),
                "The part of the coded frame that is kept."),
            KeyInfo(
                "orientation",
                .word(["keep", "bake", "0", "90", "180", "270"]),
                "`keep` carries the display matrix, `bake` rotates the frame, an angle (0, 90, 180, 270) rotates it clockwise and clears the matrix.",
                default: "keep"),
            KeyInfo("frame_rate", frameRate, "Frames a second.", default: "every frame at its own time"),
            KeyInfo(
                "deinterlace", .word(Deinterlacing.allCases.map(\.rawValue)),
                "Makes whole frames of fields; `auto` of the frames that the decoder reports as interlaced.",
                default:
                    "auto where frames are scaled, cropped or rotated, and for interlaced frames that a progressive track has later (H.264, ProRes); off otherwise"
            ),
            KeyInfo(
                "color", .oneOf([.word(["sdr"]), .mapping(color)]),
                "Color description of the frames. `sdr`: HDR frames are tone-mapped to BT.709, and become 8-bit 4:2:0 for H.264 unless `pixel_format` or `profile` is set; other frames are unchanged.",
                default: "the source's"),
            KeyInfo(
                "pixel_aspect_ratio", .text(pattern: "^[1-9][0-9]{0,4}[:/][1-9][0-9]{0,4}$", example: "1:1"),
                "Shape of a pixel, written without touching the frame.", default: "the source's"),
            KeyInfo(
                "filters", .string(), "A chain of libavfilter's video filters, of those under *Filters*.",
                examples: ["hqdn3d", "eq=contrast=1.1,unsharp"]),
            KeyInfo(
                "options", options,
                "The encoder's private options, of those under *Encoder options*."),
        ],
        laterKeys: ["parallel", "target_size", "burn"],
        alternatives: [.atMostOne(["crf", "qp", "bitrate", "lossless"]), .atLeastOne(["codec", "use"])],
        shortForm: "use")

    static let crop = MappingType(
        "crop", "`crop`", "A rectangle of the coded frame, in pixels.",
        keys: [
            KeyInfo("x", .integer(0...16_384), "Left edge.", default: "0"),
            KeyInfo("y", .integer(0...16_384), "Upper edge.", default: "0"),
            KeyInfo("width", .integer(1...16_384), "Width.", required: true),
            KeyInfo("height", .integer(1...16_384), "Height.", required: true),
        ])

    static let color = MappingType(
        "color", "`color`",
        "Colour by libav's names; the frame is converted where the source's is another.",
        keys: [
            KeyInfo("primaries", .word(ColorDescription.names(of: .primaries)), "Primaries, such as bt709."),
            KeyInfo(
                "transfer", .word(ColorDescription.names(of: .transfer)), "Transfer function, such as bt709."),
            KeyInfo("matrix", .word(ColorDescription.names(of: .matrix)), "Matrix, such as bt709."),
            KeyInfo("range", .word(["tv", "pc"]), "Limited (tv) or full (pc)."),
        ], alternatives: [.atLeastOne(["primaries", "transfer", "matrix", "range"])])

    static let audioEncode = MappingType(
        "audioEncode", "audio `encode`", "How audio is encoded.",
        keys: [
            use,
            KeyInfo("codec", .word(CodecCatalog.names(of: .audio)), "The codec."),
            KeyInfo(
                "encoder", .word(CodecCatalog.encoderNames(of: .audio)),
                "A particular encoder of the codec, of those under *Encoders*.",
                default: "the codec's first encoder that FFmpeg was built with"),
            KeyInfo("bitrate", bitRate, "Bit rate."),
            KeyInfo("quality", .number(-2...10), "Variable bit rate by quality, as the encoder counts it."),
            KeyInfo("profile", .string(), "The codec's profile."),
            KeyInfo(
                "sample_rate", frequency, "Samples a second.",
                default: "the source's, or the nearest that the encoder takes"),
            KeyInfo(
                "sample_format",
                .word([
                    "u8", "s16", "s32", "s64", "flt", "dbl", "u8p", "s16p", "s32p", "s64p", "fltp", "dblp",
                ]), "Sample format, as libav names it."),
            KeyInfo("bit_depth", .integer(8...32), "Bits a sample, for lossless codecs."),
            KeyInfo(
                "channels", channels,
                "`mono`, `stereo`, `5.1`, a count or a layout.",
                default: "the source's", examples: ["mono", "stereo", "5.1"]),
            KeyInfo(
                "gain",
                .oneOf([
                    .number(-60...60),
                    .text(pattern: #"^[+-]?[0-9]+(\.[0-9]+)?( ?[dD][bB])?$"#, example: "-3dB"),
                ]),
                "Louder or softer, in dB.", default: "0"),
            KeyInfo(
                "normalize", .oneOf([.number(-70 ... -5), .mapping(normalize)]),
                "Loudness by EBU R128: measured first, then corrected."),
            KeyInfo(
                "filters", .string(), "A chain of libavfilter's audio filters, of those under *Filters*.",
                examples: ["highpass=f=80", "acompressor"]),
            KeyInfo(
                "options", options,
                "The encoder's private options, of those under *Encoder options*."),
        ],
        alternatives: [.atMostOne(["bitrate", "quality"]), .atLeastOne(["codec", "use"])], shortForm: "use")

    static let normalize = MappingType(
        "normalize", "`normalize`", "Loudness by EBU R128.",
        keys: [
            KeyInfo("integrated", .number(-70 ... -5), "Loudness of the whole, in LUFS.", default: "-16"),
            KeyInfo("true_peak", .number(-9...0), "Highest true peak, in dBTP.", default: "-1"),
            KeyInfo(
                "range", .number(1...50), "Loudness range at most, in LU.",
                default: "the dynamics are left alone"),
            KeyInfo(
                "tags", .boolean,
                "Write the loudness that was reached as tags: ReplayGain, or of Opus `R128_TRACK_GAIN`.",
                default: "false"),
        ], shortForm: "integrated")
}
