internal import Media

/// The keys of `waveform`.
extension Language {
    static let waveformColors = MappingType(
        "waveformColors", "`colors`", "Colors of a drawn waveform.",
        keys: [
            KeyInfo("background", waveformColor, "Color of the background.", default: "#ffffff"),
            KeyInfo("waveform", waveformColor, "Color of the waveform.", default: "#1f4e79"),
        ])
    static let waveform = MappingType(
        "waveform", "`waveform`",
        "The waveform of an audio track, as an image or as data for players.",
        keys: [
            KeyInfo("audio", selectOne, "The track; the first of several.", default: "first"),
            KeyInfo(
                "format", .word(WaveformFormat.allCases.map(\.rawValue)),
                "`png` and `svg` are images; `json` and `dat` are data in the format of audiowaveform.",
                default: "from the destination's extension"),
            KeyInfo("size", waveformSize, "Size in pixels (png and svg).", default: "1200x200"),
            KeyInfo(
                "samples_per_pixel", .integer(1...1_000_000_000),
                "Samples of each channel per pixel (json and dat).",
                default: "256"),
            KeyInfo("bits", .word(WaveformBitsWord.words), "Bits per value (json and dat).", default: "8"),
            KeyInfo("colors", .mapping(waveformColors), "Colors (png and svg)."),
            KeyInfo(
                "split_channels", .boolean, "Show each channel separately instead of their mean.",
                default: "false"),
            KeyInfo(
                "measure", .word(WaveformImage.Measure.allCases.map(\.rawValue)),
                "Minimum and maximum of the samples, or their root mean square (png and svg).",
                default: "peak"),
        ])
}
