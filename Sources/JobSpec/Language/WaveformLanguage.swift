internal import Media

/// The keys of waveforms.
extension Language {
    static let waveformColor = ValueType.text(
        pattern: "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$", example: "#1f77b4")
    static let waveformColors = MappingType(
        "waveformColors", "`colors`", "The colours of a waveform that is drawn.",
        keys: [
            KeyInfo("background", waveformColor, "What is behind it.", default: "#ffffff"),
            KeyInfo("waveform", waveformColor, "The waveform.", default: "#1f4e79"),
        ])
    static let waveform = MappingType(
        "waveform", "`waveform`",
        "How loud a track of audio is over its length: drawn, or as data that players draw.",
        keys: [
            KeyInfo("audio", select, "Which track; of several the first.", default: "first"),
            KeyInfo(
                "format", .word(WaveformFormat.allCases.map(\.rawValue)),
                "`png` and `svg` are drawn; `json` and `dat` are audiowaveform's data.",
                default: "from the destination's extension"),
            KeyInfo("size", fullDimensions, "Of png and svg, in pixels.", default: "1200x200"),
            KeyInfo(
                "samples_per_pixel", .integer(1...1_000_000_000),
                "Of json and dat: samples of each channel in a pixel.",
                default: "256"),
            KeyInfo("bits", .word(["8", "16"]), "Of json and dat: bits of a value.", default: "8"),
            KeyInfo("colors", .mapping(waveformColors), "Of png and svg."),
            KeyInfo(
                "split_channels", .boolean, "Each channel by itself; otherwise their mean.", default: "false"),
            KeyInfo(
                "measure", .word(WaveformImage.Measure.allCases.map(\.rawValue)),
                "Of png and svg: the lowest and highest samples, or the root of their mean square.",
                default: "peak"),
        ])
}
