internal import LibAV
internal import Media

/// The keys of image outputs.
extension Language {
    static let imageTolerance = MappingType(
        "imageTolerance", "`tolerance` of `images`",
        "How far from the time that is asked for a still may lie.",
        keys: [
            KeyInfo("before", length(0...86_400), "How much earlier.", default: "0"),
            KeyInfo("after", length(0...86_400), "How much later.", default: "0"),
        ])
    static let imageSheet = MappingType(
        "imageSheet", "`sheet` of `images`", "All stills in one file, in columns and rows.",
        keys: [
            KeyInfo("columns", .integer(1...200), "Stills beside each other.", required: true),
            KeyInfo("rows", .integer(1...200), "Rows of stills.", default: "as many as it takes"),
            KeyInfo(
                "index", .word(["vtt"]),
                "A WebVTT file beside it that says which part of the sheet belongs to which time, for players that show it above their time line."
            ),
        ])
    static let images = MappingType(
        "images", "`images`",
        "Stills of the first video track: of these times, at this distance, so many, of all key frames or of scenes. The destination names each by `${image.number}` or `${image.time}`, or is one file for one still, a sheet or an animation.",
        keys: [
            KeyInfo(
                "at", .oneOf([.number(-1e9...1e9), time, .list(timeOrNumber)]),
                "These times of the range; `end` is the last frame."),
            KeyInfo("every", length(0.001...86_400), "The first frame, and one after each such time."),
            KeyInfo(
                "count", .integer(1...9999),
                "That many, evenly spaced: the range is divided into that many equal parts, and each still is from the middle of one."
            ),
            KeyInfo("keyframes", .onlyTrue, "Every key frame."),
            KeyInfo(
                "scenes", .number(0.001...1),
                "The first frame, and the first one of each scene: where a frame differs from the one before by so much, from 0 to 1 as ffmpeg's `select` measures it; 0.3 to 0.5 finds cuts. Each plan decodes the source to find them."
            ),
            KeyInfo(
                "tolerance", .oneOf([.word(["keyframe"]), .mapping(imageTolerance)]),
                "How far from its time a still may lie, where that is cheaper: `keyframe` takes the key frame before it.",
                default: "the very frame"),
            KeyInfo(
                "size", dimensions,
                "Size in pixels: of one side, the other follows the frame's shape; of both, what fits into it.",
                default: "as it is shown"),
            KeyInfo(
                "aperture", .word(ApertureMode.allCases.map(\.rawValue)),
                "`clean` is the part that the source says is to be seen, `production` the whole frame, both with square pixels; `encoded` the frame's own pixels.",
                default: "clean"),
            KeyInfo(
                "orientation", .word(["apply", "ignore"]), "Whether frames are rotated as the source says.",
                default: "apply"),
            KeyInfo(
                "format", .word(CodecCatalog.stills.map(\.name)), "The kind of file.",
                default: "from the destination's extension"),
            KeyInfo(
                "quality", .integer(1...100), "For lossy formats; 100 is the best.",
                default: CodecCatalog.stills.compactMap { codec in
                    codec.stillQuality.map { "\($0.defaultValue) for \(codec.name)" }
                }.joined(separator: ", ")),
            KeyInfo("sheet", .mapping(imageSheet), "All stills in one file, in columns and rows."),
            KeyInfo(
                "animation", .word(AnimationFormat.allCases.map(\.rawValue)),
                "All stills in one file, shown one after the other, each until the time of the next: over and over again. A GIF has one palette for all of them."
            ),
        ],
        alternatives: [.exactlyOne(["at", "every", "count", "keyframes", "scenes"])])
}
