extension ContainerModel {
    /// MP3 with ID3 tags.
    static let mp3: ContainerModel = {
        var model = audio("mp3", ["mp3"], tags: nil)
        model.codecs = .only(["mp3"])
        model.coverCodecs = ["mjpeg", "png", "bmp", "gif", "tiff"]
        model.hidesBeginningExcept = []
        model.discardMarking = .firstFrame
        // libavformat parses the creation time, completes a partial one, and writes it in ID3's format.
        model.parsesCreationTime = true
        return model
    }()
}
