extension CodecModel {
    /// Vorbis by libvorbis.
    static let vorbis: CodecModel = {
        var model = audio("vorbis", encoders: ["libvorbis"])
        model.defaultRate = "by quality"
        model.qualities = -1...10
        // The number of channels says which they are.
        model.layouts = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
        return model
    }()
}
