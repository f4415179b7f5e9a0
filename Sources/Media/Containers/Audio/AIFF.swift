extension ContainerModel {
    /// AIFF; AIFF-C for little-endian samples.
    static let aiff: ContainerModel = {
        var model = audio(
            "aiff", ["aiff", "aif", "aifc"], tags: ["author", "comment", "copyright", "title"])
        model.hasChapters = false
        return model
    }()
}
