internal import LibAV
internal import Media

/// The keys of jobs and of their outputs.
extension Language {
    static let metadata = MappingType(
        "metadata", "`metadata`", "The output's tags.",
        keys: [
            KeyInfo(
                "keep", .oneOf([.word(["all", "none"]), .list(.string(), mayBeEmpty: true)]),
                "Which of the source's tags are kept; `cover` in the list stands for its covers.",
                default: "all"),
            KeyInfo("set", .mapOf(.string(), keys: .any), "Tags to write."),
            KeyInfo(
                "file_times", .word(["keep", "now"]),
                "`keep` gives the output's file the time at which the source's was last changed.",
                default: "now"),
        ])
    static let chapters = ValueType.oneOf([
        .word(["keep", "drop", "clips"]), .list(.mapping(chapter), mayBeEmpty: true),
    ])
    static let destination = MappingType(
        "destination", "a destination", "Where the output goes.",
        keys: [
            KeyInfo(
                "path", .string(mayBeEmpty: false), "The file, relative to the job file.", required: true),
            KeyInfo(
                "if_exists", .word(IfExists.allCases.map(\.rawValue)),
                "What happens to a file there that Tandem did not publish.", default: "fail"),
            KeyInfo("make_directories", .boolean, "Missing folders are made.", default: "true"),
        ], shortForm: "path")

    /// Keys of an output: its content and its destination. A job without `outputs` contains them directly.
    private static let outputKeys = [
        KeyInfo(
            "tracks",
            .list(
                .oneOf([
                    .mapping(videoTrack), .mapping(audioTrack), .mapping(subtitleTrack),
                    .mapping(dataTrack), .mapping(attachmentTrack),
                ])),
            "What is read and how it is written, in output order."),
        KeyInfo(
            "export", .word(ExportPreset.names),
            "Instead of `tracks`: a preset by name, with settings that depend on the source. `tandem presets` lists them."
        ),
        KeyInfo(
            "images", .mapping(images),
            "Instead of `tracks`: stills of the first video track, each a file, or all in one."),
        KeyInfo(
            "waveform", .mapping(waveform),
            "Instead of `tracks`: how loud a track of audio is over its length, drawn or as data."),
        KeyInfo(
            "container", .word(ContainerType.names), "The kind of file.",
            default: "from the destination's extension"),
        KeyInfo(
            "optimize_for_network", .boolean, "The index goes to the front of the file.", default: "false"
        ),
        KeyInfo(
            "fragment", .oneOf([.number(0.1...60), fragmentTime]),
            "The file is written in fragments of that length, each with its own index, so that it plays while it is fetched and as far as it got: of mp4, mov and m4a. Frames begin one at their first key frame after that length, after twice the length at the latest; 0.1 s to 60 s."
        ),
        KeyInfo("metadata", .mapping(metadata), "The output's tags."),
        KeyInfo(
            "chapters", chapters,
            "The source's, trimmed and shifted with the range; none; one for each clip of a composition; or these.",
            default: "keep"),
        KeyInfo("limit", .mapping(limit), "Truncates the output at a duration or a file size."),
        KeyInfo(
            "leftover", .word(Leftover.allCases.map(\.rawValue)),
            "Source tracks that no rule selects: listed, warned of, or an error.", default: "drop"),
        KeyInfo(
            "expect", .mapping(expect),
            "What must hold of the output before it is published."),
    ]
    private static func destinationKey(_ type: MappingType, required: Bool) -> KeyInfo {
        KeyInfo(
            "destination", .oneOf([.string(mayBeEmpty: false), .mapping(type)]), "Where the output goes.",
            required: required)
    }
    static let output = MappingType(
        "output", "an output", "One of several outputs of a job; what the job says itself is under each.",
        keys: outputKeys + [destinationKey(destination, required: true)],
        alternatives: [.exactlyOne(["tracks", "export", "images", "waveform"])])

    static let job = MappingType(
        "job", "a job", "One read of one asset, and the outputs made of it.",
        keys: [
            KeyInfo(
                "asset", asset,
                "An asset's id, a path (it has a `/` or a `.`), or an asset written in place."
            ),
            KeyInfo(
                "composition", .oneOf([sequence, .mapping(composition)]),
                "Instead of `asset`: several assets on one time line. A list is its `sequence`."),
            KeyInfo(
                "range", .oneOf([.mapping(range), .list(.mapping(range))]),
                "What part of the asset; all of it when absent. A list of ranges is joined end to end, in its order."
            ),
        ] + outputKeys + [
            destinationKey(destination.partial(), required: false),
            KeyInfo(
                "outputs", .mapOf(.mapping(output.partial()), keys: .identifiers, mayBeEmpty: false),
                "Several outputs of one read and one decode, by their ids. They are published when all are whole."
            ),
            KeyInfo(
                "on_damage", .word(DamagePolicy.allCases.map(\.rawValue)),
                "Damaged data of the source: `fail` ends the job, `skip` leaves them out, counts and reports them.",
                default: "fail"),
            KeyInfo(
                "needs", .oneOf([.identifier, .list(.identifier, mayBeEmpty: true)]),
                "Jobs that must have succeeded first."),
            KeyInfo(
                "timeout", length(0.001...1e9),
                "The job fails when it takes longer: seconds, or a time such as `10:00` or `1:30:00`."),
            KeyInfo(
                "retries", .integer(0...10),
                "Further attempts after a failure that can pass: a server that doesn't answer, a worker that was killed. Never after a full disk or damaged data.",
                default: "0"),
            KeyInfo(
                "priority", .integer(-1000...1000), "Jobs with a higher one start first.", default: "0"),
            KeyInfo(
                "threads", .integer(1...256),
                "Threads of the job's video encoders, and how many processors it counts for.",
                default: "what suits the encoder"),
            KeyInfo(
                "matrix",
                .mapOf(.oneOf([.string(), .list(.string())]), keys: .identifiers, mayBeEmpty: false),
                "The job once for every combination of the values, which `${matrix.key}` stands for."),
            KeyInfo(
                "cut", .word(CutMode.allCases.map(\.rawValue)),
                "How a range is cut. `exact`: to the frame and the sample, or an error. `keyframe`: copied frames widen the range to where they can begin and end. `smart`: to the frame, copied but for the edges. `smart-or-exact`: the same, and re-encoded where that can't be.",
                default: "exact"
            ),
        ],
        laterKeys: ["package", "check", "when", "publish_if", "group"],
        alternatives: [
            .exactlyOne(["asset", "composition"]),
            .exactlyOne(["tracks", "export", "images", "waveform", "outputs"]),
            .atLeastOne(["destination", "outputs"]),
        ],
        stricter: [
            // The keys of the content may be in the outputs.
            .init(
                key: "destination", type: .oneOf([.string(mayBeEmpty: false), .mapping(destination)]),
                without: "outputs")
        ])
}
