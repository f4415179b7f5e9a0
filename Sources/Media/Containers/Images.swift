internal import LibAV

/// Formats of still images and animations.
extension ContainerModel {
    /// JPEG (JFIF).
    static let jpeg = image("jpeg", ["jpg", "jpeg"], codec: "mjpeg")
    /// Portable Network Graphics.
    static let png = image("png", ["png"], codec: "png")
    /// WebP.
    static let webp = image("webp", ["webp"], codec: "webp")

    /// GIF, for animations only.
    static let gif = image("gif", ["gif"], codec: "gif")

    private static func image(_ name: String, _ extensions: [String], codec: String) -> ContainerModel {
        var model = ContainerModel(name, extensions, [.video])
        model.isSingleTrack = true
        model.codecs = .only([codec])
        model.hasTimestamps = false
        model.hasChapters = false
        model.metadataKeys = []
        model.languages = []
        model.hasTrackTitles = false
        model.setDispositions(["default"])
        return model
    }
}

/// Formats of waveform outputs.
extension ContainerModel {
    static let waveforms = ["png", "svg", "json", "dat"].map { name in
        var model = audio("waveform-\(name)", [name], tags: [])
        model.codecs = .only(["pcm_s16le"])
        model.hasChapters = false
        return model
    }
}
