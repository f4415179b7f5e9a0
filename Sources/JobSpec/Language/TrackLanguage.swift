internal import LibAV
internal import Media

/// The keys of track rules.
extension Language {
    /// The keys that determine the processing of a rule's tracks.
    private static let videoTreatment = [
        KeyInfo(
            "encode", .oneOf([.identifier, .mapping(videoEncode)]),
            "Decode and re-encode; a name stands for named settings. With `copy`: settings for the sections that can't be copied, or for the tracks that don't meet its conditions."
        ),
        KeyInfo("copy", copy(where: whereVideo), "Copy the packets without re-encoding, where possible."),
    ]
    private static let audioTreatment = [
        KeyInfo(
            "encode", .oneOf([.identifier, .mapping(audioEncode)]),
            "Decode and re-encode; a name stands for named settings. With `copy`: settings for the sections that can't be copied, or for the tracks that don't meet its conditions."
        ),
        KeyInfo("copy", copy(where: whereAudio), "Copy the packets without re-encoding, where possible."),
        KeyInfo(
            "mix", .oneOf([.boolean, .list(.mapping(mixInput))]),
            "Mix the selected tracks into one, at their original levels or at those of the list.",
            default: "false"),
    ]
    private static let subtitleTreatment = [
        KeyInfo(
            "encode", .mapping(subtitleEncode),
            "Convert to another text format. With `copy`: the format of tracks that can't be copied, or that don't meet its conditions."
        ),
        KeyInfo("copy", copy(where: whereSubtitle), "Copy the events without conversion, where possible."),
    ]
    static let videoTrack = track(
        "video", "a video track rule", "video tracks", select, videoTreatment, videoChoice)
    static let audioTrack = track(
        "audio", "an audio track rule", "audio tracks", select, audioTreatment, audioChoice)
    static let subtitleTrack = track(
        "subtitle", "a subtitle track rule", "subtitle tracks", selectSubtitles, subtitleTreatment,
        subtitleChoice)
    static let videoChoice = choice("videoChoice", videoTreatment)
    static let audioChoice = choice("audioChoice", audioTreatment)
    static let subtitleChoice = choice("subtitleChoice", subtitleTreatment)
    /// The maximum number of entries of `choose`.
    static let maxChoices = 32

    /// Returns the type of a rule for tracks of a type.
    private static func track(
        _ type: String, _ title: String, _ tracks: String, _ selection: ValueType, _ treatment: [KeyInfo],
        _ choice: MappingType
    ) -> MappingType {
        let chosen = treatment.map(\.name) + ["when"] + tagKeys.map(\.name)
        return MappingType(
            type + "Track", title, "A rule for \(tracks).",
            keys: [
                KeyInfo(
                    type, selection, "The tracks to select; with a list, by the first entry that matches.",
                    required: true)
            ] + treatment + [
                KeyInfo(
                    "choose", .list(.mapping(choice), atMost: maxChoices),
                    "Instead of the other keys but `optional`: entries with these keys, of which the first whose `when` holds applies."
                )
            ] + trackKeys,
            alternatives: [.atLeastOne(["encode", "copy", "choose"])]
                + chosen.map { .atMostOne(["choose", $0]) })
    }

    /// Returns the type of an entry of `choose`.
    private static func choice(_ name: String, _ treatment: [KeyInfo]) -> MappingType {
        MappingType(
            name, "an entry of `choose`", "The processing of the selected tracks if `when` holds.",
            keys: [when(of: "the entry")] + treatment + tagKeys,
            alternatives: [.atLeastOne(["encode", "copy"])])
    }

    static let mixInput = MappingType(
        "mixInput", "an entry of `mix`", "The volume of some tracks of a mix.",
        keys: [
            KeyInfo(
                "audio", select, "Tracks of the source, which the rule must select.", required: true),
            KeyInfo(
                "volume", .oneOf([.scalar(mixFactor), .list(.mapping(volumePoint))]),
                "Factor of the samples, or a list of points with linear interpolation.", required: true),
        ])
    static let volumePoint = MappingType(
        "volumePoint", "a point of `volume`", "A volume at a time of the output.",
        keys: [
            KeyInfo("at", time, "Time in the output.", required: true),
            KeyInfo("value", mixFactor, "Factor of the samples.", required: true),
        ])
    static let subtitleEncode = MappingType(
        "subtitleEncode", "subtitle `encode`", "The format of converted subtitles.",
        keys: [
            KeyInfo(
                "codec", .word(SubtitleCodec.allCases.map(\.rawValue)),
                "The text format. Image subtitles can only be copied.", required: true)
        ])
    static let attachmentTrack = MappingType(
        "attachmentTrack", "an attachment rule", "A rule for attached files, such as fonts.",
        keys: [
            KeyInfo(
                "attachment", select,
                "The attachments to copy; with a list, by the first entry that matches.",
                required: true),
            KeyInfo("copy", .onlyTrue, "Copy without changes.", required: true),
            when(of: "the rule"),
            KeyInfo("optional", .boolean, "A selection without a match is not an error.", default: "false"),
        ])
    static let dataTrack = MappingType(
        "dataTrack", "a data track rule",
        "A rule for data tracks, such as a camera's telemetry; timecode and chapters are kept without a rule.",
        keys: [
            KeyInfo(
                "data", select, "The tracks to select; with a list, by the first entry that matches.",
                required: true),
            KeyInfo("copy", .onlyTrue, "Copy without changes.", required: true),
        ] + trackKeys)
    private static let trackKeys =
        [
            when(of: "the rule"),
            KeyInfo("optional", .boolean, "A selection without a match is not an error.", default: "false"),
        ] + tagKeys
    private static func when(of rule: String) -> KeyInfo {
        KeyInfo("when", .mapping(when), "Conditions on the source without which \(rule) doesn't apply.")
    }
    private static let tagKeys = [
        KeyInfo(
            "language", languageTag,
            "Language of the output's track.",
            default: "the source's"),
        KeyInfo("title", .string(), "Title of the output's track.", default: "the source's"),
        KeyInfo(
            "disposition",
            .oneOf([
                .word(["none"] + TrackDisposition.names),
                .list(.word(TrackDisposition.names), atLeast: 0),
            ]),
            "Disposition of the output's track.", default: "the source's"),
        KeyInfo("metadata", .mapOf(.string(), keys: .any), "Tags of the output's track."),
    ]
}
