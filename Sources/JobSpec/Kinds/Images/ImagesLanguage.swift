internal import LibAV
internal import Media

/// The keys of image outputs.
extension Language {
    static let imageTolerance = MappingType(
        "imageTolerance", "`tolerance` of `images`",
        "Maximum distance of a still image from the requested time.",
        keys: [
            KeyInfo(
                "before", length(withinADay, suchAs: "2s or 500ms"), "Maximum time before it.", default: "0"),
            KeyInfo(
                "after", length(withinADay, suchAs: "2s or 500ms"), "Maximum time after it.", default: "0"),
        ])
    static let imageSheet = MappingType(
        "imageSheet", "`sheet` of `images`", "All still images in one file, in columns and rows.",
        keys: [
            KeyInfo("columns", .integer(1...200), "Number of columns.", required: true),
            KeyInfo("rows", .integer(1...200), "Number of rows.", default: "as many as necessary"),
            KeyInfo(
                "index", .word(["vtt"]),
                "Write a WebVTT file next to the sheet that maps times to its parts, for previews in players."
            ),
        ])
    static let images = MappingType(
        "images", "`images`",
        "Still images of the first video track: at given times, at an interval, a number of them, at all keyframes, or at scene changes. The destination names each by `${image.number}` or `${image.time}`, or is a single file for one image, a sheet or an animation.",
        keys: [
            KeyInfo(
                "at", .oneOf([.scalar(time), .list(.scalar(time), atMost: ImagesSpec.maxImages)]),
                "Times in the range; `end` is the last frame."),
            KeyInfo(
                "every", length(upToADay, suchAs: "5s or 500ms"),
                "Interval: the first frame, and one at each multiple of the interval."),
            KeyInfo(
                "count", .integer(1...ImagesSpec.maxImages),
                "Number of images: the range is divided into that many equal parts, and each image is from the middle of one."
            ),
            KeyInfo("keyframes", .onlyTrue, "Every keyframe."),
            KeyInfo(
                "scenes", .thousandths(0.001...1),
                "Scene detection: the first frame, and each frame that differs from the previous one by at least this value, from 0 to 1 (FFmpeg's `select` filter); 0.3 to 0.5 detects cuts. Each plan decodes the source."
            ),
            KeyInfo(
                "tolerance", .oneOf([.word(["keyframe"]), .mapping(imageTolerance)]),
                "Maximum distance of an image from the requested time, to decode fewer frames; `keyframe` uses the keyframe at or before it.",
                default: "exact"),
            KeyInfo(
                "size", dimensions,
                "Size in pixels; with one side, the aspect ratio is kept; with both, the image is scaled to fit.",
                default: "the display size"),
            KeyInfo(
                "aperture", .word(ApertureMode.allCases.map(\.rawValue)),
                "`clean` is the source's clean aperture, `production` the whole frame, both with square pixels; `encoded` is the coded frame.",
                default: "clean"),
            KeyInfo(
                "orientation", .word(["apply", "ignore"]), "Whether the source's rotation is applied.",
                default: "apply"),
            KeyInfo(
                "format", .word(CodecCatalog.imageCodecs.map(\.name)), "The image format.",
                default: "from the destination's extension"),
            KeyInfo(
                "quality", .integer(1...100), "Quality of lossy formats; 100 is the best.",
                default: CodecCatalog.imageCodecs.compactMap { codec in
                    codec.stillQuality.map { "\($0.defaultValue) for \(codec.name)" }
                }.joined(separator: ", ")),
            KeyInfo("sheet", .mapping(imageSheet), "All still images in one file, in columns and rows."),
            KeyInfo(
                "animation", .word(AnimationFormat.allCases.map(\.rawValue)),
                "All still images in one file, as a repeating animation; each is shown until the time of the next. A GIF has one palette for all images."
            ),
        ],
        alternatives: [.exactlyOne(["at", "every", "count", "keyframes", "scenes"])])
}
