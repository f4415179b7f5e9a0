internal import LibAV

extension ContainerModel {
    /// Raw AAC in ADTS frames.
    static let adts: ContainerModel = {
        var model = audio("adts", ["aac", "adts"], tags: [])
        model.demuxer = .named("aac")
        model.codecs = .only(["aac"])
        model.hasChapters = false
        return model
    }()
}
