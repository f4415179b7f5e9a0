internal import Media

/// The keys of `expect`.
extension Language {
    static let expectDuration = MappingType(
        "expectDuration", "`duration` of `expect`", "How long the output lasts.",
        keys: [
            KeyInfo("is", length(), "How long.", required: true),
            KeyInfo("within", length(), "How far off it may be.", default: "1ms"),
        ], shortForm: "is")
    static let expectSize = MappingType(
        "expectSize", "`size` of `expect`", "How large the file is.",
        keys: [
            KeyInfo("max", Language.bytes, "At most.", required: true)
        ])
    static let expectLongest = MappingType(
        "expectLongest", "a longest stretch", "The longest section of it.",
        keys: [KeyInfo("max", length(), "At most so long.", required: true)])
    static let expectVideo = MappingType(
        "expectVideo", "`video` of `expect`", "The first video track.",
        keys: [
            KeyInfo("codec", libavName("h264"), "The codec, as libav names it."),
            KeyInfo("profile", .string(), "The profile, as libav names it."),
            KeyInfo("width", .integer(1...16_384), "Pixels."),
            KeyInfo("height", .integer(1...16_384), "Pixels."),
            KeyInfo("frame_rate", frameRate, "Average frames a second."),
            KeyInfo("pixel_format", libavName("yuv420p"), "Pixel format, as libav names it."),
        ])
    static let expectAudio = MappingType(
        "expectAudio", "`audio` of `expect`", "The first audio track.",
        keys: [
            KeyInfo("codec", libavName("h264"), "The codec, as libav names it."),
            KeyInfo("profile", .string(), "The profile, as libav names it."),
            KeyInfo("sample_rate", frequency, "Samples a second."),
            KeyInfo(
                "channels", channels,
                "mono, stereo, 5.1, a count, or a layout as libav names it."),
            KeyInfo("language", .string(), "Language, as the container says it."),
        ])
    static let expectIntegrated = MappingType(
        "expectIntegrated", "`integrated` of `expect`", "Integrated loudness by EBU R128.",
        keys: [
            KeyInfo("is", .number(-70...0), "How loud, in LUFS.", required: true),
            KeyInfo("within", .number(0...20), "How far off it may be, in LU.", default: "0.5"),
        ])
    static let expectPeak = MappingType(
        "expectPeak", "`true_peak` of `expect`", "The highest true peak.",
        keys: [KeyInfo("max", .number(-60...12), "At most, in dBTP.", required: true)])
    static let expectLoudness = MappingType(
        "expectLoudness", "`loudness` of `expect`", "Loudness of the first audio track by EBU R128.",
        keys: [
            KeyInfo("integrated", .mapping(expectIntegrated), "Integrated loudness."),
            KeyInfo("true_peak", .mapping(expectPeak), "The highest true peak."),
        ], alternatives: [.atLeastOne(["integrated", "true_peak"])])
    static let expect = MappingType(
        "expect", "`expect`",
        "What must hold of the finished output before it is published; otherwise the job fails and nothing is published.",
        keys: [
            KeyInfo("duration", .oneOf([length(), .mapping(expectDuration)]), "How long it lasts."),
            KeyInfo("frames", .integer(1...1_000_000_000), "How many frames its first video track has."),
            KeyInfo("size", .mapping(expectSize), "How large its file is."),
            KeyInfo("video", .mapping(expectVideo), "Properties of its first video track."),
            KeyInfo("audio", .mapping(expectAudio), "Properties of its first audio track."),
            KeyInfo("loudness", .mapping(expectLoudness), "Loudness of its first audio track."),
            KeyInfo("silence", .mapping(expectLongest), "Its longest silence, below -60 dB."),
            KeyInfo("black", .mapping(expectLongest), "Its longest run of black frames."),
            KeyInfo(
                "similarity", .mapping(expectSimilarity),
                "How much its first video track is like what went into the encoder, on the mean."),
            KeyInfo("decodes", .onlyTrue, "All of it decodes without an error."),
        ])
    static let expectSimilarity = MappingType(
        "expectSimilarity", "`similarity` of `expect`",
        "Frames beside those that went into the encoder, on the mean.",
        keys: [
            KeyInfo("ssim", .mapping(expectSSIM), "Structural similarity, from 0 to 1."),
            KeyInfo("psnr", .mapping(expectPSNR), "Peak signal to noise, in dB."),
        ], alternatives: [.atLeastOne(["ssim", "psnr"])])
    static let expectSSIM = MappingType(
        "expectSSIM", "`ssim` of `expect`", "Structural similarity.",
        keys: [KeyInfo("min", .number(0...1), "At least so much.", required: true)])
    static let expectPSNR = MappingType(
        "expectPSNR", "`psnr` of `expect`", "Peak signal to noise.",
        keys: [KeyInfo("min", .number(0...200), "At least, in dB.", required: true)])
}
