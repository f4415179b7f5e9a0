extension ContainerModel {
    /// MP3 with its ID3 tags.
    static let mp3: ContainerModel = {
        var model = audio("mp3", ["mp3"], tags: nil)
        model.codecs = .only(["mp3"])
        model.coverCodecs = ["mjpeg", "png", "bmp", "gif", "tiff"]
        model.hidesBeginningExcept = []
        model.discardForm = .firstFrame
        // libavformat rewrites it in the one form that ID3 has, and completes it first.
        model.parsesCreationTime = true
        return model
    }()
}
