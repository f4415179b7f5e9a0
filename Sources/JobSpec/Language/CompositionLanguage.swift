internal import Media

/// The keys of `composition`.
extension Language {
    /// The maximum number of entries in each of `sequence`, `layers` and `audio`.
    static let maxItems = Composition.maxClips

    private static let levels = ValueType.oneOf([.scalar(volume), .list(.mapping(levelPoint))])
    private static let opacities = ValueType.oneOf([.scalar(opacity), .list(.mapping(opacityPoint))])

    static let levelPoint = MappingType(
        "levelPoint", "a point of a composition's `volume`",
        "A volume at a time, with linear interpolation between points.",
        keys: [
            KeyInfo(
                "at", length(withinADay, suchAs: "2s"),
                "Time from the start of the clip or the audio item.", required: true
            ),
            KeyInfo("value", factor, "Factor of the samples.", required: true),
        ])
    static let opacityPoint = MappingType(
        "opacityPoint", "a point of `opacity`",
        "An opacity at a time, with linear interpolation between points.",
        keys: [
            KeyInfo(
                "at", length(withinADay, suchAs: "2s"), "Time from the start of the layer.", required: true),
            KeyInfo(
                "value", opacityValue, "Opacity from 0 (invisible) to 1 (opaque).", required: true),
        ])

    /// The selection of one track of a clip, or of none.
    static let oneTrack = ValueType.oneOf([
        .word(SelectionWord.optional), .scalar(trackIndex), .mapping(selection), singleSelections,
    ])

    private static let shaping = [
        KeyInfo(
            "crop", .oneOf([.word(["clean_aperture"]), .mapping(crop)]),
            "The part of the coded frame to use; all of it by default."),
        KeyInfo(
            "filters", .string(), "A chain of FFmpeg's video filters; see *Filters*."),
    ]
    static let clip = MappingType(
        "clip", "a clip", "A section of an asset, with video and audio.",
        keys: [
            KeyInfo("asset", asset, "An asset's id, a path, or an inline asset.", required: true),
            KeyInfo("id", .identifier, "Id for anchors."),
            KeyInfo("range", .mapping(range), "The section of the asset; all of it by default."),
            KeyInfo("duration", length(upToADay, suchAs: "5s"), "Duration of an image."),
            KeyInfo("video", oneTrack, "The video track; `none` is black.", default: "first"),
            KeyInfo("audio", oneTrack, "The audio track; `none` is silence.", default: "first"),
            KeyInfo(
                "subtitle",
                .oneOf([
                    .word(SelectionWord.words), .scalar(trackIndex), .mapping(selection), selections,
                ]),
                "The subtitle tracks to keep, as text; tracks of the same language are joined.",
                default: "all"),
            KeyInfo(
                "fit", .word(["contain", "cover", "stretch"]),
                "Scaling of frames to the canvas: with bars, cropped, or distorted.",
                default: "contain"),
            KeyInfo(
                "speed", .thousandths(0.1...10), "Playback speed; audio keeps its pitch.",
                default: "1"),
            KeyInfo("volume", levels, "Volume: a factor, decibels, or points.", default: "1"),
            KeyInfo(
                "lead_in", .word([LeadIn.hold, .black].map(\.rawValue)),
                "Image from the start of the clip to its first frame: that frame, or black.",
                default: "hold up to 0.5 s, black beyond"),
        ] + shaping)
    static let join = MappingType(
        "join", "a join",
        "The transition between the clips before and after it, which overlap; the total duration is reduced by the overlap.",
        keys: [
            KeyInfo("join", .word(JoinKind.allCases.map(\.rawValue)), "The transition.", required: true),
            KeyInfo(
                "overlap", length(upToAnHour, suchAs: "1s or 500ms"), "Duration of the overlap.",
                required: true),
        ])
    static let gap = MappingType(
        "gap", "a gap", "Black and silence.",
        keys: [
            KeyInfo("gap", length(upToADay, suchAs: "1s"), "Duration of the gap.", required: true)
        ])

    static let placement = MappingType(
        "place", "`place`", "The position of a layer; centered by default.",
        keys: [
            KeyInfo("left", distance, "Distance from the left edge: pixels, or a percentage of the width."),
            KeyInfo("right", distance, "Distance from the right edge."),
            KeyInfo("top", distance, "Distance from the upper edge: pixels, or a percentage of the height."),
            KeyInfo("bottom", distance, "Distance from the lower edge."),
            KeyInfo(
                "center", .boolean, "Center horizontally, as without `left` and `right`.",
                default: "false"),
            KeyInfo("width", distance, "Width; the height keeps the aspect ratio.", default: "its own"),
            KeyInfo("height", distance, "Height; the width keeps the aspect ratio."),
            KeyInfo(
                "rotate", .thousandths(-360...360),
                "Rotation around the center, in degrees clockwise.", default: "0"),
        ], alternatives: [.atMostOne(["left", "right", "center"]), .atMostOne(["top", "bottom"])])
    private static let layerTimes = [
        KeyInfo("at", anchor, "Time at which the layer appears.", default: "0"),
        KeyInfo("until", anchor, "Time at which the layer disappears.", default: "end"),
        KeyInfo("duration", length(upToADay, suchAs: "3s"), "Duration, instead of `until`."),
        KeyInfo("place", .mapping(placement), "Position of the layer."),
        KeyInfo("opacity", opacities, "Opacity from 0 (invisible) to 1 (opaque).", default: "1"),
    ]
    static let assetLayer = MappingType(
        "assetLayer", "a layer", "Frames of an asset above the clips.",
        keys: [
            KeyInfo("asset", asset, "An asset's id, a path, or an inline asset.", required: true),
            KeyInfo("range", .mapping(range), "The section of the asset; from its start by default."),
            KeyInfo("video", oneTrack, "The video track.", default: "first"),
        ] + shaping + layerTimes, alternatives: [.atMostOne(["until", "duration"])])
    /// The style of subtitles that are drawn into frames.
    static let subtitleStyle = [
        KeyInfo(
            "font", .string(mayBeEmpty: false),
            "Name of an installed font, for text. It replaces that of all styles.",
            default: "from the subtitles, or DejaVu Sans"),
        KeyInfo(
            "size", .integer(4...2000), "Font size in pixels, for text. It replaces that of all styles.",
            default: "from the subtitles"),
        KeyInfo(
            "color", textColor,
            "Color, for text. It replaces that of all styles; formatting inside of an event remains.",
            default: "from the subtitles"),
    ]
    static let subtitleLayer = MappingType(
        "subtitleLayer", "subtitles", "Subtitles that are drawn into the frames: text, or images.",
        keys: [
            KeyInfo(
                "subtitle", asset, "An asset with subtitles: an id, a path, or an inline asset.",
                required: true
            ),
            KeyInfo(
                "track", selectOne, "The subtitle track.",
                default: "first"),
        ] + subtitleStyle + [
            KeyInfo(
                "at", anchor, "Position of the subtitle file's time 0 on the time line.",
                default: "0"),
            KeyInfo("until", anchor, "Time after which no subtitle is shown.", default: "end"),
        ])
    static let textLayer = MappingType(
        "textLayer", "a text", "Text above the clips.",
        keys: [
            KeyInfo("text", .string(mayBeEmpty: false), "The text.", required: true),
            KeyInfo(
                "font", .string(mayBeEmpty: false),
                "Name of an installed font, such as `DejaVu Sans Bold`.", default: "DejaVu Sans"),
            KeyInfo("size", .integer(4...2000), "Font size in pixels.", default: "48"),
            KeyInfo("color", textColor, "Text color.", default: "white"),
        ] + layerTimes, alternatives: [.atMostOne(["until", "duration"])])

    static let audioItem = MappingType(
        "audioItem", "an audio item", "Audio that is mixed with that of the clips.",
        keys: [
            KeyInfo("asset", asset, "An asset's id, a path, or an inline asset.", required: true),
            KeyInfo("id", .identifier, "Id for `duck` and for anchors."),
            KeyInfo("range", .mapping(range), "The section of the asset; all of it by default."),
            KeyInfo("audio", oneTrack, "The audio track.", default: "first"),
            KeyInfo("at", anchor, "Start time.", default: "0"),
            KeyInfo("until", anchor, "Latest end time.", default: "end"),
            KeyInfo("loop", .boolean, "Repeat until the end time.", default: "false"),
            KeyInfo("volume", levels, "Volume: a factor, decibels, or points.", default: "1"),
            KeyInfo("fade_in", length(upToAnHour, suchAs: "2s"), "Duration of the fade-in."),
            KeyInfo(
                "fade_out", length(upToAnHour, suchAs: "2s"), "Duration of the fade-out, before the end."),
            KeyInfo("duck", .mapping(duck), "Lower the volume while another audio item or a clip has audio."),
        ])
    static let duck = MappingType(
        "duck", "`duck`", "Under which audio the volume is lowered, and by how much.",
        keys: [
            KeyInfo(
                "under", .identifier,
                "Id of the audio item or the clip that takes precedence.",
                required: true),
            KeyInfo("by", reduction, "Reduction in decibels.", default: "12dB"),
        ])

    /// The value of `sequence`: a list of clips, joins and gaps.
    static let sequence = ValueType.list(
        .oneOf([
            .string(mayBeEmpty: false), .mapping(clip), .mapping(join), .mapping(gap), .mapping(fileAsset),
            .mapping(pathsAsset),
            .mapping(urlAsset), .mapping(pattern), .mapping(imagesAsset), .mapping(imageAsset),
            .mapping(jobAsset),
        ]), atMost: maxItems)

    static let composition = MappingType(
        "composition", "`composition`",
        "Several assets on one time line. With `copy: true`, compatible clips (codec, size, parameter sets) are joined without re-encoding. With `cut: smart`, the edges of clips, joins, layers and gaps are re-encoded; with `smart-or-exact` also clips that are not compatible. With `cut: smart`, audio is copied as whole packets at their original times if the audio items don't overlap and are unchanged.",
        keys: [
            KeyInfo("sequence", sequence, "Clips in order, joins and gaps.", required: true),
            KeyInfo(
                "layers",
                .list(
                    .oneOf([.mapping(assetLayer), .mapping(textLayer), .mapping(subtitleLayer)]),
                    atMost: maxItems),
                "Layers above the clips; later ones are on top."),
            KeyInfo(
                "audio", .list(.mapping(audioItem), atMost: maxItems),
                "Audio that is mixed with that of the clips."),
            KeyInfo(
                "size", canvasSize, "Size of the frames; both sides even.", default: "the first clip's"),
            KeyInfo(
                "frame_rate", frameRate, "Frames per second.",
                default: "derived from the first clip, so that all its frames are shown"),
            KeyInfo("sample_rate", compositionSampleRate, "Samples per second.", default: "the first clip's"),
            KeyInfo("channels", channels, "Channels of the audio.", default: "the first clip's"),
        ])
}
