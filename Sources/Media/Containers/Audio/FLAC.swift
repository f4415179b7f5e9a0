extension ContainerModel {
    /// Native FLAC files.
    static let flac: ContainerModel = {
        var model = audio("flac", ["flac"], tags: nil)
        model.codecs = .only(["flac"])
        model.coverCodecs = ["mjpeg", "png", "bmp", "gif", "tiff"]
        model.hasChapters = false
        model.sharedKeys = ["description", "comment"]
        return model
    }()
}
