internal import LibAV
internal import Media

/// The job language, version 1: every key with its type and meaning. The one table from which the decoder's
/// key checks, the schema and the reference come.
public enum Language {
    /// The version that a file must name.
    public static let version = 1

    static let time = ValueType.text(
        pattern:
            #"^(end|chapter:[1-9][0-9]*|[0-9]+f|[0-9]+(\.[0-9]+)?%|-?[0-9]+(\.[0-9]+)?(s|ms)?|-?([0-9]+:)?[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?)$"#,
        example: "1:30.5")
    static let bitRate = ValueType.oneOf([
        .integer(1...1_000_000_000), .text(pattern: #"^[0-9]+(\.[0-9]+)?[kM]?$"#, example: "128k"),
    ])
    static let frequency = ValueType.oneOf([
        .integer(1...768_000), .text(pattern: #"^[0-9]+(\.[0-9]+)?(k?Hz)?$"#, example: "44.1kHz"),
    ])
    static let frameRate = ValueType.oneOf([
        .number(0.001...1000), .text(pattern: #"^[0-9]+(\.[0-9]+|/[1-9][0-9]*)?$"#, example: "30000/1001"),
    ])
    static let dimensions = ValueType.text(pattern: #"^([0-9]+x[0-9]*|x[0-9]+)$"#, example: "1280x720")
    static let fullDimensions = ValueType.text(pattern: #"^[0-9]+x[0-9]+$"#, example: "1280x720")
    static let timeOrNumber = ValueType.oneOf([.number(-1e9...1e9), time])

    static let pattern = MappingType(
        "patternAsset", "A test signal: a moving picture and a tone, made without a file.",
        keys: [
            KeyInfo("pattern", .word(TestPattern.sources.map(\.name)), "The picture.", required: true),
            KeyInfo("size", fullDimensions, "Size in pixels; both even.", default: "1280x720"),
            KeyInfo("frame_rate", frameRate, "Frames a second.", default: "25"),
            KeyInfo("duration", timeOrNumber, "How long it lasts.", default: "10s"),
            KeyInfo("tone", frequency, "Frequency of the tone; without it there is no sound."),
        ])
    static let fileAsset = MappingType(
        "fileAsset", "A media file.",
        keys: [
            KeyInfo("path", .string, "Where it is, relative to the job file.", required: true),
            KeyInfo(
                "timing", .word(AssetTiming.allCases.map(\.rawValue)),
                "`fast` takes times from the header and the index, `precise` measures every packet.",
                default: "fast"),
        ])
    static let jobAsset = MappingType(
        "jobAsset", "What another job publishes; this job waits for it.",
        keys: [KeyInfo("job", .identifier, "The job's id.", required: true)], laterKeys: ["output"])
    static let asset = ValueType.oneOf([.string, .mapping(fileAsset), .mapping(pattern), .mapping(jobAsset)])

    static let range = MappingType(
        "range", "A stretch of the asset's time line: `[start, end)`.",
        keys: [
            KeyInfo("start", timeOrNumber, "Where it begins.", default: "0"),
            KeyInfo("end", timeOrNumber, "Where it ends; the end is not part of it.", default: "end"),
            KeyInfo("duration", timeOrNumber, "How long it is, instead of `end`."),
        ], alternatives: [.atMostOne(["end", "duration"])])

    static let selection = MappingType(
        "selection", "Tracks by what is known of them; all that is said must hold.",
        keys: [
            KeyInfo("index", .integer(0...255), "Position among the tracks of the kind, from 0."),
            KeyInfo(
                "language", .text(pattern: "^[A-Za-z-]{2,15}$", example: "eng"),
                "Language as the container says it."),
        ], laterKeys: ["id", "codec", "disposition", "characteristic", "title"])
    static let select = ValueType.oneOf([.word(["first", "all"]), .integer(0...255), .mapping(selection)])

    static let videoEncode = MappingType(
        "videoEncode", "How pictures are compressed.",
        keys: [
            KeyInfo("codec", .word(CodecCatalog.names(of: .video)), "The codec.", required: true),
            KeyInfo("crf", .number(0...63), "Constant quality; lower is better."),
            KeyInfo("qp", .integer(0...63), "Constant quantiser."),
            KeyInfo("bitrate", bitRate, "Average bit rate."),
            KeyInfo("lossless", .boolean, "Without loss."),
            KeyInfo("max_bitrate", bitRate, "Highest bit rate, with `buffer_size`."),
            KeyInfo("buffer_size", bitRate, "Size of the rate-control buffer in bits."),
            KeyInfo(
                "preset", .oneOf([.string, .integer(0...13)]), "Speed against size, as the encoder names it."),
            KeyInfo("profile", .oneOf([.string, .integer(0...3)]), "The codec's profile."),
            KeyInfo(
                "level", .oneOf([.number(0.5...7), .text(pattern: #"^[1-7](\.[0-9])?b?$"#, example: "4.1")]),
                "The codec's level."),
            KeyInfo("size", dimensions, "Size in pixels; one side alone keeps the shape."),
            KeyInfo(
                "pixel_format", .string, "Pixel format, as libav names it.",
                default: "the source's, or the nearest that the encoder takes"),
            KeyInfo("frame_rate", frameRate, "Frames a second.", default: "every frame at its own time"),
            KeyInfo(
                "keyframe_interval", .oneOf([.integer(1...100_000), time]),
                "Most time or frames between key frames."),
            KeyInfo(
                "options", .mapOf(.oneOf([.string, .number(-1e12...1e12), .boolean]), keys: .any),
                "The encoder's private options; one that it doesn't take is an error."),
        ],
        laterKeys: [
            "use", "passes", "tune", "b_frames", "fit", "crop", "orientation", "deinterlace", "color",
            "pixel_aspect_ratio", "filters", "parallel",
        ], alternatives: [.atMostOne(["crf", "qp", "bitrate", "lossless"])])

    static let audioEncode = MappingType(
        "audioEncode", "How sound is compressed.",
        keys: [
            KeyInfo("codec", .word(CodecCatalog.names(of: .audio)), "The codec.", required: true),
            KeyInfo("bitrate", bitRate, "Bit rate."),
            KeyInfo(
                "sample_rate", frequency, "Samples a second.",
                default: "the source's, or the nearest that the encoder takes"),
            KeyInfo(
                "channels", .oneOf([.integer(1...16), .string]),
                "`mono`, `stereo`, `5.1`, a count or a layout.",
                default: "the source's"),
            KeyInfo(
                "options", .mapOf(.oneOf([.string, .number(-1e12...1e12), .boolean]), keys: .any),
                "The encoder's private options; one that it doesn't take is an error."),
        ],
        laterKeys: [
            "use", "quality", "profile", "sample_format", "bit_depth", "gain", "normalize", "filters",
        ])

    static let videoTrack = MappingType(
        "videoTrack", "A rule for tracks of pictures.",
        keys: [
            KeyInfo("video", select, "Which tracks.", required: true),
            KeyInfo("encode", .mapping(videoEncode), "Decode and compress anew."),
            KeyInfo("copy", .boolean, "Take the packets as they are."),
            KeyInfo("optional", .boolean, "A selection that matches nothing is no error.", default: "false"),
        ], laterKeys: laterTrackKeys, alternatives: [.exactlyOne(["encode", "copy"])])
    static let audioTrack = MappingType(
        "audioTrack", "A rule for tracks of sound.",
        keys: [
            KeyInfo("audio", select, "Which tracks.", required: true),
            KeyInfo("encode", .mapping(audioEncode), "Decode and compress anew."),
            KeyInfo("copy", .boolean, "Take the packets as they are."),
            KeyInfo("optional", .boolean, "A selection that matches nothing is no error.", default: "false"),
        ], laterKeys: laterTrackKeys + ["mix"], alternatives: [.exactlyOne(["encode", "copy"])])
    private static let laterTrackKeys = ["language", "title", "disposition", "metadata"]

    static let metadata = MappingType(
        "metadata", "The output's tags.",
        keys: [
            KeyInfo(
                "keep", .oneOf([.word(["all", "none"]), .list(.string)]),
                "Which of the source's tags are kept.",
                default: "all"),
            KeyInfo("set", .mapOf(.string, keys: .any), "Tags to write."),
        ])
    static let destination = MappingType(
        "destination", "Where the output goes.",
        keys: [
            KeyInfo("path", .string, "The file, relative to the job file.", required: true),
            KeyInfo(
                "if_exists", .word(IfExists.allCases.map(\.rawValue)),
                "What happens to a file there that Tandem did not publish.", default: "fail"),
            KeyInfo("make_directories", .boolean, "Missing folders are made.", default: "true"),
        ])

    static let job = MappingType(
        "job", "One read of one asset, and the output made of it.",
        keys: [
            KeyInfo(
                "asset", asset,
                "An asset's id, a path (it has a `/` or a `.`), or an asset written in place.", required: true
            ),
            KeyInfo("range", .mapping(range), "What part of the asset; all of it when absent."),
            KeyInfo(
                "tracks", .list(.oneOf([.mapping(videoTrack), .mapping(audioTrack)])),
                "What is read and how it is written, in output order.", required: true),
            KeyInfo(
                "container", .word(ContainerType.all.map(\.name)), "The kind of file.",
                default: "from the destination's extension"),
            KeyInfo(
                "optimize_for_network", .boolean, "The index goes to the front of the file.", default: "false"
            ),
            KeyInfo("metadata", .mapping(metadata), "The output's tags."),
            KeyInfo(
                "destination", .oneOf([.string, .mapping(destination)]), "Where the output goes.",
                required: true),
        ],
        laterKeys: [
            "composition", "cut", "export", "images", "waveform", "outputs", "package", "fragment", "limit",
            "chapters",
            "leftover", "needs", "matrix", "timeout", "retries", "priority", "threads", "expect",
        ])

    /// The whole file.
    public static let file = MappingType(
        "batch", "A batch: assets and the jobs that read them.",
        keys: [
            KeyInfo("version", .integer(1...1), "The version of the job language.", required: true),
            KeyInfo("name", .string, "The batch's name.", default: "the file's name"),
            KeyInfo("assets", .mapOf(asset, keys: .identifiers), "Sources by id."),
            KeyInfo("jobs", .mapOf(.mapping(job), keys: .identifiers), "Jobs by id.", required: true),
        ], laterKeys: ["include", "vars", "settings", "defaults"])
}
