extension CodecModel {
    /// AAC by FFmpeg's own encoder.
    static let aac: CodecModel = {
        var model = audio("aac", encoders: ["aac"])
        model.profiles = ["aac_low", "aac_main", "aac_ltp"]
        model.defaultRate = "128k"
        model.usualBitRate = { channels in
            channels <= 1 ? 96_000 : channels == 2 ? 128_000 : 64_000 * Int64(channels)
        }
        model.beginsWithDelay = true
        // What has no number of its own in AAC is told by an element that few players read, and wrongly so of 5.1(side).
        model.layouts = ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"]
        return model
    }()
}
