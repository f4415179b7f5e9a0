internal import LibAV
internal import Media

/// Keys of a video `encode` whose absence is checked.
enum EncodeKey: String {
    case size, bitrate
    case bufferSize = "buffer_size"
    case maxBitRate = "max_bitrate"
    case frameRate = "frame_rate"
    case targetSize = "target_size"
}

/// The keys of `encode`.
extension Language {
    private static let options = ValueType.mapOf(.string(), keys: .any)
    private static let use = KeyInfo(
        "use", .identifier, "Named settings to start from; other keys of the mapping override them.")

    static let videoEncode = MappingType(
        "videoEncode", "video `encode`", "Settings of a video encoder.",
        keys: [
            use,
            KeyInfo("codec", .word(CodecCatalog.names(of: .video)), "The codec."),
            KeyInfo(
                "encoder", .word(CodecCatalog.encoderNames(of: .video)),
                "An encoder of the codec; see *Encoders*. Hardware encoders are used only if named here.",
                default: "the codec's first software encoder that FFmpeg was built with"),
            KeyInfo("crf", .thousandths(0...63), "Constant quality (CRF); lower is better."),
            KeyInfo("qp", .integer(0...255), "Constant quantizer (QP)."),
            KeyInfo("bitrate", bitRate, "Average bit rate."),
            KeyInfo(
                "target_size", byteSize,
                "Maximum size of the finished file with all its tracks. The bit rate of the video is computed from the duration, the other tracks and the container, and corrected by further encodes, three at most. A file that would be larger fails the job; for one below 97 % of the size, the report states the reason. Encoders with two passes take two, SVT-AV1 takes one. Audio is copied, or encoded with a bit rate. A size that requires less than 0.002 bits per pixel and frame is an error, which states the smallest size."
            ),
            KeyInfo(
                "scale", .word(FrameScaling.allCases.map(\.rawValue)),
                "With `target_size`: `auto` reduces the frame until its bit rate is at least 0.02 bits per pixel and frame. The shorter side becomes 1080, 720, 540, 480, 360 or 240, the first below the size of the frame that suffices. The plan states the reduction.",
                default: "none"),
            KeyInfo(
                "quality", .mapping(videoQuality),
                "Similarity of the finished track to the encoder's input. The `crf` that reaches it is searched with at most five probes, the finished track is measured, and encoded again at most twice if it misses the target. An output below the target by more than `within` fails the job; for one above it, the report states the reason."
            ),
            KeyInfo("lossless", .boolean, "Encode without loss."),
            KeyInfo("max_bitrate", bitRate, "Maximum bit rate; requires `buffer_size`."),
            KeyInfo("buffer_size", bitRate, "Size of the rate-control buffer in bits."),
            KeyInfo(
                "passes", .integer(1...2),
                "Number of passes; 2 analyzes the source first, and distributes the `bitrate` better.",
                default: "1"),
            KeyInfo(
                "preset", .string(),
                "The encoder's preset: encoding speed against file size; see *Encoders*."),
            KeyInfo("tune", .string(), "The encoder's tuning, such as `film`; see *Encoders*."),
            KeyInfo("profile", .string(), "The codec's profile; see *Encoders*."),
            KeyInfo("level", .string(), "The codec's level, such as `4.1`; see *Encoders*."),
            KeyInfo(
                "keyframe_interval", keyframeInterval,
                "Maximum time or number of frames between keyframes."),
            KeyInfo(
                "parallel", parallelism,
                "Encode chunks of the track concurrently: if it is long enough and its settings allow it (`auto`), or at most that number at a time. `cluster` also lets the parts of a batch that `tandem submit` starts encode them, on several machines. The result is the same in all these cases. For libx264, libx265, libvpx-vp9 and libaom-av1 with constant quality.",
                default: "off"),
            KeyInfo("b_frames", .integer(0...16), "Maximum number of consecutive B-frames."),
            KeyInfo(
                "pixel_format", .scalar(pixelFormat), "FFmpeg's name of the pixel format.",
                default: "the source's, or the nearest that the encoder supports",
                examples: ["yuv420p", "yuv422p", "yuv444p", "yuv420p10le", "yuv422p10le", "yuv444p10le"]),
            KeyInfo(
                "size", dimensions,
                "Size in pixels, into which `fit` scales the frame; with one side, the aspect ratio is kept."),
            KeyInfo(
                "fit", .word(FrameFit.allCases.map(\.rawValue)),
                "Scaling to a `size` with another aspect ratio: uniformly, as large as fits (`inside`); the same with black bars up to the size (`contain`); uniformly, filling the size, with the rest cropped (`cover`); to exactly the size, distorted (`stretch`); like `inside`, but never enlarged, and with the size rotated for a portrait frame (`scale-down`). Pixels are square. Beside `pixel_aspect_ratio` it is always `stretch`.",
                default: "inside"),
            KeyInfo(
                "crop", .oneOf([.word(CropWord.words), .mapping(crop)]),
                "The part of the coded frame to keep. `auto` is the active area within the black borders, found in frames of the whole file (all of them up to 30 s, otherwise those near 64 times); the plan states the rectangle. It requires a media file that exists when the job is planned."
            ),
            KeyInfo(
                "orientation",
                .word(["keep", "bake", "0", "90", "180", "270"]),
                "`keep` carries the display matrix, `bake` rotates the frame, an angle (0, 90, 180, 270) rotates it clockwise and clears the matrix.",
                default: "keep"),
            KeyInfo("frame_rate", frameRate, "Frames per second.", default: "the source's frames and times"),
            KeyInfo(
                "deinterlace", .word(Deinterlacing.allCases.map(\.rawValue)),
                "Deinterlacing; `auto` applies to frames that the decoder reports as interlaced.",
                default:
                    "auto if frames are scaled, cropped or rotated, and for interlaced frames after progressive ones (H.264, ProRes); otherwise off"
            ),
            KeyInfo(
                "color", .oneOf([.word(["sdr"]), .mapping(color)]),
                "Color description of the frames. `sdr`: HDR frames are tone-mapped to BT.709, and become 8-bit 4:2:0 for H.264 unless `pixel_format` or `profile` is set; other frames are unchanged.",
                default: "the source's"),
            KeyInfo(
                "pixel_aspect_ratio", ratio, "Pixel aspect ratio, set without changing the frame.",
                default: "the source's"),
            KeyInfo(
                "filters", .string(), "A chain of FFmpeg's video filters; see *Filters*.",
                examples: ["hqdn3d", "eq=contrast=1.1,unsharp"]),
            KeyInfo(
                "burn",
                .oneOf([
                    .word(SelectionWord.optional), .scalar(trackIndex), .mapping(burn), singleSelections,
                ]),
                "Draw subtitles into the frames, after `filters` and scaling: text, or images (PGS, DVB, DVD). A word, a number (among the subtitle tracks) or a list selects a track of the source; `none` draws nothing, also where the settings of `use` do. Frames that the source's rotation would turn are rotated upright.",
                default: "none"),
            KeyInfo(
                "options", options,
                "The encoder's private options; see *Encoder options*."),
        ],
        alternatives: [
            .atMostOne(["crf", "qp", "bitrate", "target_size", "quality", "lossless"]),
            .atLeastOne(["codec", "use"]),
        ],
        shortForm: "use")

    static let burn = MappingType(
        "burn", "`burn`",
        "Subtitles that are drawn into the frames. Text is drawn into the whole frame with the machine's fonts; characters that no font contains become boxes. FFmpeg 5.1 draws text in the colors of BT.601 and limited range, whatever those of the frames are. Images keep their position in the video, and are moved into the frame where crop or `fit` would cut them off.",
        keys: [
            KeyInfo(
                "subtitle", selectOne,
                "The subtitle track, of the source or of `asset`: the first that matches. It must have an event in the range that is encoded.",
                default: "first"),
            KeyInfo("asset", subtitleAsset, subtitleAssetSummary),
            KeyInfo(
                "optional", .boolean,
                "Without such a track or file, or without an event in the range, the frames are encoded without subtitles.",
                default: "false"),
        ] + subtitleStyle,
        alternatives: [.atLeastOne(["subtitle", "asset"])], shortForm: "subtitle")

    static let crfBound = thousandths(0...63)

    static let videoQuality = MappingType(
        "videoQuality", "`quality` of video",
        "A similarity to the encoder's input, measured on the decoded frames of the finished track.",
        keys: [
            KeyInfo("ssim", .number(0...1), "Structural similarity (SSIM) of all planes."),
            KeyInfo("psnr", .number(15...80), "Peak signal-to-noise ratio (PSNR) of all planes, in dB."),
            KeyInfo(
                "pool", .word(SimilarityPool.allCases.map(\.rawValue)),
                "Statistic over the frames: the `mean` (of PSNR: the PSNR of the mean square error), the 5th percentile (`p5`), or the lowest value (`min`).",
                default: "mean"),
            KeyInfo(
                "within", .number(0.0001...10), "Accepted difference from the target, in its unit.",
                default: "0.002 for `ssim`, 0.3 for `psnr`"),
            KeyInfo(
                "crf", .list(.scalar(crfBound), atLeast: 2, atMost: 2), "Minimum and maximum of `crf`.",
                default: "from 1 to the encoder's maximum", examples: ["[16, 32]"]),
        ], alternatives: [.atMostOne(["ssim", "psnr"]), .atLeastOne(["ssim", "psnr"])])

    static let crop = MappingType(
        "crop", "`crop`", "A rectangle of the coded frame, in pixels.",
        keys: [
            KeyInfo("x", edge, "Left edge.", default: "0"),
            KeyInfo("y", edge, "Upper edge.", default: "0"),
            KeyInfo("width", side, "Width.", required: true),
            KeyInfo("height", side, "Height.", required: true),
        ])

    static let color = MappingType(
        "color", "`color`",
        "Color properties by FFmpeg's names; frames of other properties are converted.",
        keys: [
            KeyInfo("primaries", .word(ColorDescription.names(of: .primaries)), "Primaries, such as bt709."),
            KeyInfo(
                "transfer", .word(ColorDescription.names(of: .transfer)), "Transfer function, such as bt709."),
            KeyInfo("matrix", .word(ColorDescription.names(of: .matrix)), "Matrix, such as bt709."),
            KeyInfo("range", .word(ColorRange.allCases.map(\.rawValue)), "Limited (tv) or full (pc)."),
        ], alternatives: [.atLeastOne(["primaries", "transfer", "matrix", "range"])])

    static let audioEncode = MappingType(
        "audioEncode", "audio `encode`", "Settings of an audio encoder.",
        keys: [
            use,
            KeyInfo("codec", .word(CodecCatalog.names(of: .audio)), "The codec."),
            KeyInfo(
                "encoder", .word(CodecCatalog.encoderNames(of: .audio)),
                "An encoder of the codec; see *Encoders*.",
                default: "the codec's first encoder that FFmpeg was built with"),
            KeyInfo("bitrate", bitRate, "Bit rate."),
            KeyInfo(
                "quality", .thousandths(-2...10), "Variable bit rate by quality, as the encoder counts it."),
            KeyInfo("profile", .string(), "The codec's profile; see *Encoders*."),
            KeyInfo(
                "sample_rate", sampleRate, "Samples a second.",
                default: "the source's, or the next higher one that the encoder supports, or its highest"),
            KeyInfo("sample_format", sampleFormat, "FFmpeg's name of the sample format."),
            KeyInfo("bit_depth", .integer(8...32), "Bits per sample, for lossless codecs."),
            KeyInfo(
                "channels", .scalar(channels),
                "`mono`, `stereo`, `5.1`, a number of channels, or a channel layout.",
                default: "the source's", examples: ["mono", "stereo", "5.1"]),
            KeyInfo(
                "gain", gain, "Gain in dB, applied before `filters`.", default: "0"),
            KeyInfo(
                "normalize", .oneOf([.scalar(targetLoudness), .mapping(normalize)]),
                "Loudness normalization by EBU R128 in two passes, after `filters`."),
            KeyInfo(
                "filters", .string(), "A chain of FFmpeg's audio filters; see *Filters*.",
                examples: ["highpass=f=80", "acompressor"]),
            KeyInfo(
                "options", options,
                "The encoder's private options; see *Encoder options*."),
        ],
        alternatives: [.atMostOne(["bitrate", "quality"]), .atLeastOne(["codec", "use"])], shortForm: "use")

    static let normalize = MappingType(
        "normalize", "`normalize`", "Loudness by EBU R128.",
        keys: [
            KeyInfo("integrated", targetLoudness, "Integrated loudness in LUFS.", default: "-16"),
            KeyInfo("true_peak", .number(-9...0), "Maximum true peak in dBTP.", default: "-1"),
            KeyInfo(
                "range", .number(1...50), "Maximum loudness range in LU.",
                default: "unchanged"),
            KeyInfo(
                "tags", .boolean,
                "Write the resulting loudness as tags: ReplayGain, or `R128_TRACK_GAIN` for Opus.",
                default: "false"),
            KeyInfo(
                "group", .word(NormalizationGroup.allCases.map(\.rawValue)),
                "`file` normalizes each file. `job` measures the files of all instances of the job together when it is planned, and gives the tracks of a rule one gain, so that the differences between the files are kept, as in an album. No peak exceeds `true_peak`: a lower gain takes the place of a limiter. The effect of a lossy encoder on loudness and peaks is not compensated. A file that can't be read fails all instances. The job's `group` divides the instances.",
                default: "file"),
        ], shortForm: "integrated")
}
