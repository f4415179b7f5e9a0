extension ContainerModel {
    /// Apple's audio interchange format; samples of the low byte first make it AIFF-C.
    static let aiff: ContainerModel = {
        var model = audio(
            "aiff", ["aiff", "aif", "aifc"], tags: ["author", "comment", "copyright", "title"])
        model.hasChapters = false
        return model
    }()
}
