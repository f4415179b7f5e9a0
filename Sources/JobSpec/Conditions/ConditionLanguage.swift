internal import Diagnostics
internal import LibAV
internal import Media

/// The keys of conditions on sources: `when`, and `where` of `copy`.
extension Language {
    /// The maximum number of values that a condition lists.
    static let maxFactValues = 100

    static let when = condition(
        "when", "`when`",
        "Conditions on the source, all of which must hold. Each is a value, a list of accepted values, or bounds with `min` and `max`. A condition on a value that the source doesn't state fails.",
        keys: sourceFacts + [
            KeyInfo("not", .mapping(whenNot), "Conditions that must not all hold.")
        ])
    private static let whenNot = condition(
        "whenNot", "`not` of `when`", "Conditions on the source that must not all hold.", keys: sourceFacts)
    private static let sourceFacts = [
        KeyInfo("duration", ordered(length, lengthBounds), "Duration of the source."),
        KeyInfo("size", ordered(byteSize, byteSizeBounds), "Size of the file."),
        KeyInfo(
            "bit_rate", ordered(bitRate, bitRateBounds),
            "Size of the file divided by its duration, in bits per second."),
        KeyInfo(
            "container", listed(containerName),
            "Container format: a container of `tandem codecs`, or a demuxer of FFmpeg. Formats with the same demuxer, such as mp4 and mov, or mkv and webm, are equal."
        ),
        KeyInfo("video", .mapping(whenVideo), "Video tracks with these properties exist."),
        KeyInfo("audio", .mapping(whenAudio), "Audio tracks with these properties exist."),
        KeyInfo("subtitle", .mapping(whenSubtitle), "Subtitle tracks with these properties exist."),
    ]
    static let whenVideo = counted("whenVideo", "`video` of `when`", "video", videoFacts)
    static let whenAudio = counted("whenAudio", "`audio` of `when`", "audio", audioFacts)
    static let whenSubtitle = counted("whenSubtitle", "`subtitle` of `when`", "subtitle", subtitleFacts)

    static let whereVideo = conforming("whereVideo", "video", videoFacts)
    static let whereAudio = conforming("whereAudio", "audio", audioFacts)
    static let whereSubtitle = conforming("whereSubtitle", "subtitle", subtitleFacts)

    /// Returns the type of `copy`: `true`, or the conditions under which a track is copied.
    static func copy(where condition: MappingType) -> ValueType {
        .oneOf([
            .onlyTrue,
            .mapping(
                MappingType(
                    "copy" + condition.name.dropFirst("where".count), "`copy`",
                    "Copying of the tracks that meet conditions; all others are encoded.",
                    keys: [
                        KeyInfo(
                            "where", .mapping(condition), "Conditions on the track, all of which must hold.",
                            required: true)
                    ])),
        ])
    }

    // MARK: Facts

    private static let videoFacts = [
        KeyInfo("codec", listed(videoCodecName), "FFmpeg's name of the codec."),
        KeyInfo("profile", .oneOf([.string(), .list(.string(), atMost: maxFactValues)]), profileSummary),
        KeyInfo("width", ordered(side, sideBounds), "Width of the coded frames in pixels."),
        KeyInfo("height", ordered(side, sideBounds), "Height of the coded frames in pixels."),
        KeyInfo("frame_rate", ordered(frameRate, frameRateBounds), "Average frames per second."),
        KeyInfo("bit_rate", ordered(bitRate, bitRateBounds), bitRateSummary),
        KeyInfo("pixel_format", listed(pixelFormat), "FFmpeg's name of the pixel format."),
        KeyInfo("hdr", .boolean, "Whether the transfer function is PQ or HLG, or the video is Dolby Vision."),
        KeyInfo("interlaced", .boolean, "Whether the frames are declared as interlaced."),
        KeyInfo(
            "rotation", .oneOf([.scalar(quarterTurn), .list(.scalar(quarterTurn))]),
            "Clockwise rotation for display in degrees: 0, 90, 180 or 270."),
        languageFact,
    ]
    private static let audioFacts = [
        KeyInfo("codec", listed(audioCodecName), "FFmpeg's name of the codec."),
        KeyInfo("profile", .oneOf([.string(), .list(.string(), atMost: maxFactValues)]), profileSummary),
        KeyInfo("bit_rate", ordered(bitRate, bitRateBounds), bitRateSummary),
        KeyInfo(
            "channels", ordered(channels, channelBounds),
            "Number of channels; `5.1` stands for 6, for example."),
        KeyInfo("sample_rate", ordered(sampleRate, sampleRateBounds), "Samples per second."),
        languageFact,
    ]
    private static let subtitleFacts = [
        KeyInfo("codec", listed(videoCodecName), "FFmpeg's name of the codec."),
        languageFact,
    ]
    private static let languageFact = KeyInfo(
        "language", listed(languageTag), "Language that the container states; `und` for none.")
    private static let profileSummary =
        "FFmpeg's name of the profile, such as High or LC; upper and lower case are equal."
    private static let bitRateSummary =
        "Bit rate of the track: declared by the container, or else measured, for which all packets are read."

    static let trackCount = integer(0...1000)
    static let quarterTurn = ValueSyntax(
        [.word(["0", "90", "180", "270"])], expected: "expected 0, 90, 180 or 270",
        parser: { ["0", "90", "180", "270"].contains($0) ? Quantity.integer($0) : nil })
    /// The name of a container format that FFmpeg reads.
    static let containerName = ValueSyntax(
        [.libraryName(pattern: "^[a-zA-Z0-9][a-zA-Z0-9_.+-]*$", example: "mp4")],
        refusal: { text, _ in
            InvalidValue(
                rule: .unknownContainer, message: "unknown container `\(text)`",
                help: Suggestion.help(for: text, among: ContainerType.namesOfSources))
        },
        parser: { ContainerType.namesOfSources.contains($0) ? $0 : nil })

    // MARK: Values

    private static let lengthBounds = bounds("lengthBounds", length)
    private static let byteSizeBounds = bounds("byteSizeBounds", byteSize)
    private static let bitRateBounds = bounds("bitRateBounds", bitRate)
    private static let sideBounds = bounds("sideBounds", side)
    private static let frameRateBounds = bounds("frameRateBounds", frameRate)
    private static let channelBounds = bounds("channelBounds", channels)
    private static let sampleRateBounds = bounds("sampleRateBounds", sampleRate)
    private static let countBounds = bounds("countBounds", trackCount)

    private static func bounds(_ name: String, _ syntax: any ScalarSyntax) -> MappingType {
        MappingType(
            name, "a condition", "Bounds of a value, inclusively.",
            keys: [
                KeyInfo("min", syntax, "The lowest accepted value."),
                KeyInfo("max", syntax, "The highest accepted value."),
            ], alternatives: [.atLeastOne(["min", "max"])])
    }

    /// Returns the type of a condition on values with an order: a value, a list of values, or bounds.
    private static func ordered(_ syntax: any ScalarSyntax, _ bounds: MappingType) -> ValueType {
        .oneOf([.scalar(syntax), .list(.scalar(syntax), atMost: maxFactValues), .mapping(bounds)])
    }

    /// Returns the type of a condition on values without an order: a value or a list of values.
    private static func listed(_ syntax: any ScalarSyntax) -> ValueType {
        .oneOf([.scalar(syntax), .list(.scalar(syntax), atMost: maxFactValues)])
    }

    private static func condition(
        _ name: String, _ title: String, _ summary: String, keys: [KeyInfo]
    ) -> MappingType {
        MappingType(name, title, summary, keys: keys, alternatives: [.atLeastOne(keys.map(\.name))])
    }

    private static func counted(
        _ name: String, _ title: String, _ type: String, _ facts: [KeyInfo]
    ) -> MappingType {
        condition(
            name, title, "Properties of \(type) tracks, all of which a track must have to be counted.",
            keys: facts + [
                KeyInfo(
                    "count", ordered(trackCount, countBounds), "Number of tracks with these properties.",
                    default: "at least 1")
            ])
    }

    private static func conforming(_ name: String, _ type: String, _ facts: [KeyInfo]) -> MappingType {
        let negated = condition(
            name + "Not", "`not` of `where`", "Conditions on the \(type) track that must not all hold.",
            keys: facts)
        return condition(
            name, "`where`", "Conditions on the \(type) track, all of which must hold.",
            keys: facts + [KeyInfo("not", .mapping(negated), "Conditions that must not all hold.")])
    }
}
