extension ContainerModel {
    /// Apple's AIFF; little-endian samples make it AIFF-C.
    static let aiff: ContainerModel = {
        var model = audio(
            "aiff", ["aiff", "aif", "aifc"], tags: ["author", "comment", "copyright", "title"])
        model.hasChapters = false
        return model
    }()
}
