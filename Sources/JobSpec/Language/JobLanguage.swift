internal import LibAV
internal import Media

/// The keys of jobs and of their outputs.
extension Language {
    /// The maximum number of ranges of a job.
    static let maxRanges = 1000

    static let metadata = MappingType(
        "metadata", "`metadata`", "The output's tags and its cover.",
        keys: [
            KeyInfo(
                "keep", .oneOf([.word(KeepWord.words), .list(.string(), atLeast: 0)]),
                "Which of the source's tags are kept; `cover` in the list stands for its covers.",
                default: "all"),
            KeyInfo("set", .mapOf(.string(), keys: .any), "Tags to write."),
            KeyInfo(
                "cover", .string(mayBeEmpty: false),
                "An image file, relative to the job file, that becomes the output's cover in place of the source's: JPEG or PNG, of at most 16 MB and 40 megapixels, in \(ContainerType.namesWithCoverImages.joined(separator: ", ")). It must exist when the job is planned."
            ),
            KeyInfo(
                "file_times", .word(FileTimesWord.words),
                "`keep` gives the output's file the time at which the source's was last changed.",
                default: "now"),
        ])
    static let chapters = ValueType.oneOf([
        .word(ChaptersWord.words), .list(.mapping(chapter), atLeast: 0),
    ])
    static let destination = MappingType(
        "destination", "a destination",
        "The output's destination. With `${track.index}`, `${track.language}` or `${track.codec}` in the path, there is one output for each track of the source that a rule selects, of at most 32 outputs of a job. Other rules select one track, which each of these outputs contains.",
        keys: [
            KeyInfo(
                "path", .string(mayBeEmpty: false), "The file, relative to the job file.", required: true),
            KeyInfo(
                "if_exists", .word(IfExists.allCases.map(\.rawValue)),
                "Action if the destination is a file that Tandem did not publish.", default: "fail"),
            KeyInfo("make_directories", .boolean, "Create missing folders.", default: "true"),
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
            "Rules for the tracks, in output order."),
        KeyInfo(
            "export", .word(ExportPreset.names),
            "Instead of `tracks`: a preset by name, with settings that depend on the source. `tandem presets` lists them."
        ),
        KeyInfo(
            "images", .mapping(images),
            "Instead of `tracks`: still images of the first video track, one file for each or a single file."),
        KeyInfo(
            "waveform", .mapping(waveform),
            "Instead of `tracks`: the waveform of an audio track, as an image or as data."),
        KeyInfo(
            "container", .word(ContainerType.names), "The container format.",
            default: "from the destination's extension"),
        KeyInfo(
            "optimize_for_network", .boolean, "Move the index to the front of the file (faststart).",
            default: "false"
        ),
        KeyInfo(
            "fragment", length(fragmentDurations, suchAs: "2s or 500ms"),
            "Duration of fragments, each with its own index (mp4, mov and m4a), so that an incomplete file is playable; \(fragmentDurations.lower) to \(fragmentDurations.upper). A fragment of video ends at the first keyframe after that duration, or after twice the duration."
        ),
        KeyInfo("metadata", .mapping(metadata), "The output's tags."),
        KeyInfo(
            "chapters", chapters,
            "`keep`: the source's chapters, trimmed and shifted with the range; `drop`: none; `clips`: one for each clip of a composition; or a list.",
            default: "keep"),
        KeyInfo("limit", .mapping(limit), "Truncates the output at a duration or a file size."),
        KeyInfo(
            "leftover", .word(Leftover.allCases.map(\.rawValue)),
            "Source tracks that no rule selects: dropped, dropped with a warning, or an error.",
            default: "drop"),
        KeyInfo(
            "expect", .mapping(expect),
            "Expectations that the output must meet before it is published; with `check`, expectations of the source."
        ),
    ]
    private static func destinationKey(_ type: MappingType, required: Bool) -> KeyInfo {
        KeyInfo(
            "destination", .oneOf([.string(mayBeEmpty: false), .mapping(type)]), "The output's destination.",
            required: required)
    }
    static let output = MappingType(
        "output", "an output", "One of several outputs of a job; the job's own keys apply to each.",
        keys: outputKeys + [destinationKey(destination, required: true)],
        alternatives: [.exactlyOne(OutputKindKey.names(where: \.isAllowedInOutputs))])

    static let job = MappingType(
        "job", "a job", "One asset, and the outputs that are created from it.",
        keys: [
            KeyInfo(
                "asset", asset,
                "An asset's id, a path (which contains a `/` or a `.`), or an inline asset."
            ),
            KeyInfo(
                "composition", .oneOf([sequence, .mapping(composition)]),
                "Instead of `asset`: several assets on one time line. A list is its `sequence`."),
            KeyInfo(
                "when", .mapping(when),
                "Conditions on the source without which the job is skipped. A job that needs a skipped job runs; one that reads its output is skipped as well."
            ),
            KeyInfo(
                "range", .oneOf([.mapping(range), .list(.mapping(range), atMost: maxRanges)]),
                "The section of the asset; all of it by default. Ranges of a list are joined in their order."
            ),
        ] + outputKeys + [
            KeyInfo(
                "check", .oneOf([.onlyTrue, .mapping(check)]),
                "Instead of `tracks` and `destination`: reads the source and writes nothing. The job fails if the source is damaged, or if an expectation is not met."
            ),
            destinationKey(destination.partial(), required: false),
            KeyInfo(
                "outputs", .mapOf(.mapping(output.partial()), keys: .identifiers, mayBeEmpty: false),
                "Several outputs by id, which share reading and decoding. They are published when all are complete."
            ),
            KeyInfo(
                "package", .mapping(package),
                "With `outputs`: a folder for streaming, with the outputs that have no `destination` as renditions."
            ),
            KeyInfo(
                "publish_if", .mapping(publishIf),
                "Condition on the finished output of a job with `tracks` or `export`."),
            KeyInfo(
                "on_damage", .word(DamagePolicy.allCases.map(\.rawValue)),
                "Damaged data of the source: `fail` fails the job, `skip` omits, counts and reports the data.",
                default: "fail"),
            KeyInfo(
                "needs", .oneOf([.identifier, .list(.identifier, atLeast: 0)]),
                "Jobs that must succeed before this one."),
            KeyInfo(
                "timeout", timeout,
                "Time after which the job fails: seconds, or a time such as `10:00` or `1:30:00`."),
            KeyInfo(
                "retries", .integer(0...10),
                "Retries after a transient failure, such as a server timeout or a killed worker. A full disk or damaged data is never retried.",
                default: "0"),
            KeyInfo(
                "priority", .integer(-1000...1000), "Jobs of higher priority start first.", default: "0"),
            KeyInfo(
                "threads", .integer(1...256),
                "Threads of the job's video encoders (with `check`, of its video decoders), and processors that the job occupies in the schedule.",
                default: "chosen for the codec"),
            KeyInfo(
                "group", .string(mayBeEmpty: false),
                "Name of the instances that share a gain with `normalize: { group: job }`; all of the job by default.",
                examples: ["${asset.dir}"]),
            KeyInfo(
                "matrix",
                .mapOf(
                    .oneOf([
                        .string(),
                        .list(.oneOf([.string(), .mapOf(.string(), keys: .identifiers, mayBeEmpty: false)])),
                    ]), keys: .identifiers, mayBeEmpty: false),
                "Runs the job once for every combination of the values; `${matrix.key}` is the value of a key. `exclude`, a list of mappings, omits the combinations that have all values of a mapping; `include` adds rows, which have a value for each key."
            ),
            KeyInfo(
                "cut", .word(CutMode.allCases.map(\.rawValue)),
                "Method of cutting a range. `exact`: at the frame and the sample, or an error. `keyframe`: the range of copied frames is extended to positions at which they can start and end. `smart`: at the frame; only the edges are re-encoded. `smart-or-exact`: like `smart`; tracks for which that is not possible are re-encoded.",
                default: "exact"
            ),
        ],
        alternatives: [
            .exactlyOne(["asset", "composition"]),
            .exactlyOne(OutputKindKey.names() + ["outputs"]),
            .atLeastOne(["destination"] + OutputKindKey.names { !$0.hasDestination } + ["outputs"]),
        ],
        dependencies: [.init(key: "package", required: "outputs")],
        stricter: [
            // The outputs may set the path of a destination that they share.
            .init(
                key: "destination", type: .oneOf([.string(mayBeEmpty: false), .mapping(destination)]),
                without: "outputs")
        ])
}
