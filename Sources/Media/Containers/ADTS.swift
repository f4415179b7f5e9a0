extension ContainerModel {
    /// AAC's frames one after the other.
    static let adts: ContainerModel = {
        var model = audio("adts", ["aac", "adts"], tags: [])
        model.codecs = .only(["aac"])
        model.hasChapters = false
        return model
    }()
}
