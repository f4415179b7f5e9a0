extension EncoderModel {
    /// The Vorbis encoder libvorbis, whose encoding functions are in libvorbisenc.
    static let vorbis: EncoderModel = {
        var model = EncoderModel("libvorbis", codec: "vorbis", .audio)
        model.library = "libvorbisenc."
        model.rate.defaultRate = "by quality"
        model.rate.qualities = -1...10
        // The bitstream stores only the number of channels, which implies the layout.
        model.samples.layouts = ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]
        model.privateOptions.options = "iblock"
        return model
    }()
}
