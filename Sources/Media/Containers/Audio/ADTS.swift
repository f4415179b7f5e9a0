extension ContainerModel {
    /// Raw AAC in ADTS frames.
    static let adts: ContainerModel = {
        var model = audio("adts", ["aac", "adts"], tags: [])
        model.inputFormat = "aac"
        model.codecs = .only(["aac"])
        model.hasChapters = false
        return model
    }()
}
