extension ContainerModel {
    /// WebVTT's files.
    static let webvtt: ContainerModel = {
        var model = cues("webvtt", ["vtt", "webvtt"], codecs: ["webvtt"])
        model.mayBeEmpty = true
        return model
    }()
}
