internal import Media

/// The keys of `expect`.
extension Language {
    static let expectDuration = MappingType(
        "expectDuration", "`duration` of `expect`", "Duration of the output.",
        keys: [
            KeyInfo("is", length, "Expected duration.", required: true),
            KeyInfo("within", length, "Tolerance.", default: "1ms"),
        ], shortForm: "is")
    static let expectSize = MappingType(
        "expectSize", "`size` of `expect`", "Size of the file.",
        keys: [
            KeyInfo("max", byteSize, "Maximum size.", required: true)
        ])
    static let expectLongest = MappingType(
        "expectLongest", "`silence` or `black` of `expect`", "The longest section.",
        keys: [KeyInfo("max", length, "Maximum duration.", required: true)])
    static let expectVideo = MappingType(
        "expectVideo", "`video` of `expect`", "The first video track.",
        keys: [
            KeyInfo("codec", videoCodecName, "FFmpeg's name of the codec."),
            KeyInfo("profile", .string(), "FFmpeg's name of the profile."),
            KeyInfo("width", side, "Width in pixels."),
            KeyInfo("height", side, "Height in pixels."),
            KeyInfo("frame_rate", frameRate, "Average frames per second."),
            KeyInfo("pixel_format", pixelFormat, "FFmpeg's name of the pixel format."),
        ])
    static let expectAudio = MappingType(
        "expectAudio", "`audio` of `expect`", "The first audio track.",
        keys: [
            KeyInfo("codec", audioCodecName, "FFmpeg's name of the codec."),
            KeyInfo("profile", .string(), "FFmpeg's name of the profile."),
            KeyInfo("sample_rate", sampleRate, "Samples per second."),
            KeyInfo(
                "channels", channels,
                "`mono`, `stereo`, `5.1`, a number of channels, or a channel layout."),
            KeyInfo("language", .string(), "Language that the container states."),
        ])
    static let expectIntegrated = MappingType(
        "expectIntegrated", "`integrated` of `expect`", "Integrated loudness (EBU R128).",
        keys: [
            KeyInfo("is", .number(-70...0), "Loudness in LUFS.", required: true),
            KeyInfo("within", .number(0...20), "Tolerance in LU.", default: "0.5"),
        ])
    static let expectPeak = MappingType(
        "expectPeak", "`true_peak` of `expect`", "The highest true peak.",
        keys: [KeyInfo("max", .number(-60...12), "Maximum in dBTP.", required: true)])
    static let expectLoudness = MappingType(
        "expectLoudness", "`loudness` of `expect`", "Loudness of the first audio track (EBU R128).",
        keys: [
            KeyInfo("integrated", .mapping(expectIntegrated), "Integrated loudness."),
            KeyInfo("true_peak", .mapping(expectPeak), "The highest true peak."),
        ], alternatives: [.atLeastOne(["integrated", "true_peak"])])
    static let expect = MappingType(
        "expect", "`expect`",
        "Expectations that the finished output must meet; otherwise the job fails, and nothing is published. With `check`, expectations of the source.",
        keys: [
            KeyInfo(
                "duration", .oneOf([.scalar(length), .mapping(expectDuration)]), "Duration of the output."),
            KeyInfo("frames", .integer(1...1_000_000_000), "Number of frames of the first video track."),
            KeyInfo("size", .mapping(expectSize), "Size of the file."),
            KeyInfo("video", .mapping(expectVideo), "Properties of the first video track."),
            KeyInfo("audio", .mapping(expectAudio), "Properties of the first audio track."),
            KeyInfo("loudness", .mapping(expectLoudness), "Loudness of the first audio track."),
            KeyInfo("silence", .mapping(expectLongest), "The longest silence, below -60 dB."),
            KeyInfo("black", .mapping(expectLongest), "The longest section of black frames."),
            KeyInfo(
                "similarity", .mapping(expectSimilarity),
                "Mean similarity of the first video track to the encoder's input."),
            KeyInfo("decodes", .onlyTrue, "The output decodes without errors."),
        ])
    static let expectSimilarity = MappingType(
        "expectSimilarity", "`similarity` of `expect`",
        "Mean similarity of the frames to the encoder's input.",
        keys: [
            KeyInfo("ssim", .mapping(expectSSIM), "Structural similarity from 0 to 1."),
            KeyInfo("psnr", .mapping(expectPSNR), "Peak signal-to-noise ratio in dB."),
        ], alternatives: [.atLeastOne(["ssim", "psnr"])])
    static let expectSSIM = MappingType(
        "expectSSIM", "`ssim` of `expect`", "Structural similarity (SSIM).",
        keys: [KeyInfo("min", .number(0...1), "Minimum.", required: true)])
    static let expectPSNR = MappingType(
        "expectPSNR", "`psnr` of `expect`", "Peak signal-to-noise ratio (PSNR).",
        keys: [KeyInfo("min", .number(0...200), "Minimum in dB.", required: true)])
}
