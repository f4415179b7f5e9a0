internal import Media

/// The keys of `composition`.
extension Language {
    /// A position on the time line.
    static let anchor = ValueType.oneOf([
        .number(0...1e9),
        .text(
            pattern:
                #"^((start|end|[A-Za-z_][A-Za-z0-9_-]*\.(start|end))([+-]([0-9]+(\.[0-9]+)?(s|ms)?|([0-9]+:)?[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?))?|[0-9]+(\.[0-9]+)?(s|ms)?|([0-9]+:)?[0-9]{1,2}:[0-9]{1,2}(\.[0-9]+)?)$"#,
            example: "talk.start+2s"),
    ])
    /// Pixels, or a percentage of the canvas.
    static let distance = ValueType.oneOf([
        .integer(-16_384...16_384), .text(pattern: #"^-?[0-9]+(\.[0-9]+)?%$"#, example: "10%"),
    ])
    static let level = ValueType.oneOf([
        .number(0...16), .text(pattern: #"^[+-]?[0-9]+(\.[0-9]+)?( ?[dD][bB])$"#, example: "-3dB"),
        .list(.mapping(levelPoint)),
    ])
    static let opacity = ValueType.oneOf([.number(0...1), .list(.mapping(opacityPoint))])

    static let levelPoint = MappingType(
        "levelPoint", "a point of a composition's `volume`",
        "A volume at a time, linear from one to the next.",
        keys: [
            KeyInfo("at", length(0...86_400), "When, from where it begins.", required: true),
            KeyInfo("value", .number(0...16), "The factor of the samples.", required: true),
        ])
    static let opacityPoint = MappingType(
        "opacityPoint", "a point of `opacity`", "An opacity at a time, linear from one to the next.",
        keys: [
            KeyInfo("at", length(0...86_400), "When, from where the layer begins.", required: true),
            KeyInfo(
                "value", .number(0...1), "0 is invisible, 1 covers what is below.", required: true),
        ])

    /// The selection of one track of a clip, or of none.
    static let oneTrack = ValueType.oneOf([
        .word(["first", "none"]), .integer(0...255), .mapping(selection),
    ])

    private static let shaping = [
        KeyInfo(
            "crop", .oneOf([.word(["clean_aperture"]), .mapping(crop)]),
            "What part of the coded frame is taken; the whole when absent."),
        KeyInfo(
            "filters", .string(), "A chain of libavfilter's video filters, of those under *Filters*."),
    ]
    static let clip = MappingType(
        "clip", "a clip", "A part of an asset, frames and audio together.",
        keys: [
            KeyInfo("asset", asset, "An asset's id, a path, or an asset written in place.", required: true),
            KeyInfo("id", .identifier, "A name for anchors."),
            KeyInfo("range", .mapping(range), "What part of the asset; all of it when absent."),
            KeyInfo("duration", length(0.001...86_400), "How long an image is shown."),
            KeyInfo("video", oneTrack, "Which track is seen; `none` is black.", default: "first"),
            KeyInfo("audio", oneTrack, "Which track is heard; `none` is silence.", default: "first"),
            KeyInfo(
                "subtitle",
                .oneOf([.word(["first", "all", "none"]), .integer(0...255), .mapping(selection)]),
                "Which tracks of cues move along, as text; those of a language follow one another.",
                default: "all"),
            KeyInfo(
                "fit", .word(["contain", "cover", "stretch"]),
                "How frames get into the canvas: with bars, filled and cut off, or scaled to it.",
                default: "contain"),
            KeyInfo(
                "speed", .number(0.1...10), "How many times as fast it is played; audio keeps its pitch.",
                default: "1"),
            KeyInfo("volume", level, "How loud it is: a factor, decibels, or points.", default: "1"),
            KeyInfo(
                "lead_in", .word([LeadIn.hold, .black].map(\.rawValue)),
                "What is seen before the first frame, where that comes later than the clip: the frame itself, or black.",
                default: "hold up to 0.5 s, black beyond"),
        ] + shaping)
    static let join = MappingType(
        "join", "a join",
        "The transition between the clips before and after it, which overlap; the total gets shorter by the overlap.",
        keys: [
            KeyInfo("join", .word(JoinKind.allCases.map(\.rawValue)), "What is seen.", required: true),
            KeyInfo("overlap", length(0.001...3600), "How long both are there.", required: true),
        ])
    static let gap = MappingType(
        "gap", "a gap", "Black and silence.",
        keys: [KeyInfo("gap", length(0.001...86_400), "How long.", required: true)])

    static let place = MappingType(
        "place", "`place`", "Where a layer stands; in the middle where nothing is said.",
        keys: [
            KeyInfo("left", distance, "From the left edge: pixels, or a share of the width."),
            KeyInfo("right", distance, "From the right edge."),
            KeyInfo("top", distance, "From the upper edge: pixels, or a share of the height."),
            KeyInfo("bottom", distance, "From the lower edge."),
            KeyInfo(
                "center", .boolean, "In the middle from left to right, as it is where neither is said.",
                default: "false"),
            KeyInfo("width", distance, "How wide it is; the height follows.", default: "its own"),
            KeyInfo("height", distance, "How high it is; the width follows."),
            KeyInfo(
                "rotate", .number(-360...360),
                "How far it is rotated around its middle, in degrees clockwise.", default: "0"),
        ], alternatives: [.atMostOne(["left", "right", "center"]), .atMostOne(["top", "bottom"])])
    private static let layerTimes = [
        KeyInfo("at", anchor, "When it comes on screen.", default: "0"),
        KeyInfo("until", anchor, "When it goes.", default: "end"),
        KeyInfo("duration", length(0.001...86_400), "How long it is there, instead of `until`."),
        KeyInfo("place", .mapping(place), "Where it stands."),
        KeyInfo("opacity", opacity, "Opacity: 0 is invisible, 1 covers what is below.", default: "1"),
    ]
    static let assetLayer = MappingType(
        "assetLayer", "a layer", "Frames of an asset above the clips.",
        keys: [
            KeyInfo("asset", asset, "An asset's id, a path, or an asset written in place.", required: true),
            KeyInfo("range", .mapping(range), "What part of the asset; from its start when absent."),
            KeyInfo("video", oneTrack, "Which track is seen.", default: "first"),
        ] + shaping + layerTimes, alternatives: [.atMostOne(["until", "duration"])])
    static let subtitleLayer = MappingType(
        "subtitleLayer", "subtitles", "Cues that are drawn into the frames.",
        keys: [
            KeyInfo(
                "subtitle", asset, "An asset with cues: its id, a path, or an asset in place.", required: true
            ),
            KeyInfo(
                "track", .oneOf([.word(["first"]), .integer(0...255), .mapping(selection)]),
                "Which of its tracks.",
                default: "first"),
            KeyInfo(
                "font", .string(mayBeEmpty: false),
                "The name of a font of this machine.", default: "the cues' own, or DejaVu Sans"),
            KeyInfo(
                "size", .integer(4...2000), "The height of its letters in pixels.", default: "the cues' own"),
            KeyInfo("color", layerColor, "Its color.", default: "the cues' own"),
            KeyInfo(
                "at", anchor, "The time on the time line at which the subtitle file's time 0 is.",
                default: "0"),
            KeyInfo("until", anchor, "When the last one goes.", default: "end"),
        ])
    private static let layerColor = ValueType.oneOf([
        .word(["white", "black", "red", "green", "blue", "yellow", "cyan", "magenta", "gray"]),
        .text(pattern: "^#[0-9A-Fa-f]{6}([0-9A-Fa-f]{2})?$", example: "#ffcc00"),
    ])
    static let textLayer = MappingType(
        "textLayer", "a text", "Text above the clips.",
        keys: [
            KeyInfo("text", .string(mayBeEmpty: false), "What is written.", required: true),
            KeyInfo(
                "font", .string(mayBeEmpty: false),
                "The name of a font of this machine, such as `DejaVu Sans Bold`.", default: "DejaVu Sans"),
            KeyInfo("size", .integer(4...2000), "The height of its letters in pixels.", default: "48"),
            KeyInfo("color", layerColor, "Its color.", default: "white"),
        ] + layerTimes, alternatives: [.atMostOne(["until", "duration"])])

    static let audioItem = MappingType(
        "audioItem", "a run of audio", "Audio that is added to what the clips have.",
        keys: [
            KeyInfo("asset", asset, "An asset's id, a path, or an asset written in place.", required: true),
            KeyInfo("id", .identifier, "A name for `duck`."),
            KeyInfo("range", .mapping(range), "What part of the asset; all of it when absent."),
            KeyInfo("audio", oneTrack, "Which track is heard.", default: "first"),
            KeyInfo("at", anchor, "When it begins.", default: "0"),
            KeyInfo("until", anchor, "When it ends at the latest.", default: "end"),
            KeyInfo("loop", .boolean, "It begins anew until its time is over.", default: "false"),
            KeyInfo("volume", level, "How loud it is: a factor, decibels, or points.", default: "1"),
            KeyInfo("fade_in", length(0.001...3600), "How long it comes up."),
            KeyInfo("fade_out", length(0.001...3600), "How long it goes down, up to its end."),
            KeyInfo("duck", .mapping(duck), "It makes room while another one is heard."),
        ])
    static let duck = MappingType(
        "duck", "`duck`", "Which one it makes room for, and how much.",
        keys: [
            KeyInfo(
                "under", .identifier,
                "The id of another audio item, or of a clip, whose own audio it makes room for.",
                required: true),
            KeyInfo(
                "by",
                .oneOf([
                    .number(0...60), .text(pattern: #"^[0-9]+(\.[0-9]+)?( ?[dD][bB])$"#, example: "12dB"),
                ]), "By how many decibels.", default: "12dB"),
        ])

    /// An element of `sequence`.
    static let sequence = ValueType.list(
        .oneOf([
            .string(mayBeEmpty: false), .mapping(clip), .mapping(join), .mapping(gap), .mapping(fileAsset),
            .mapping(urlAsset), .mapping(pattern), .mapping(imagesAsset), .mapping(imageAsset),
            .mapping(jobAsset),
        ]))

    static let composition = MappingType(
        "composition", "`composition`",
        "Several assets on one time line. With `copy: true` clips that fit together (codec, size, parameter sets) are joined without re-encoding them; under `cut: smart` what lies at their edges, under joins and layers and in gaps is re-encoded, under `smart-or-exact` also clips that don't fit. Audio is copied under `cut: smart` as whole packets at their true times, where one run of it follows the other and none is changed.",
        keys: [
            KeyInfo("sequence", sequence, "Clips one after the other, joins and gaps.", required: true),
            KeyInfo(
                "layers",
                .list(.oneOf([.mapping(assetLayer), .mapping(textLayer), .mapping(subtitleLayer)])),
                "What is above them; later ones higher."),
            KeyInfo("audio", .list(.mapping(audioItem)), "What is heard beside them."),
            KeyInfo(
                "size", fullDimensions, "Size of the frames; both sides even.", default: "the first clip's"),
            KeyInfo(
                "frame_rate", frameRate, "Frames a second.",
                default: "as many as show every frame of the first clip"),
            KeyInfo("sample_rate", frequency, "Samples a second.", default: "the first clip's"),
            KeyInfo("channels", channels, "Channels of the audio.", default: "the first clip's"),
        ])
}
