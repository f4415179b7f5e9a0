extension ContainerModel {
    /// WebVTT's files.
    static let webvtt = cues("webvtt", ["vtt", "webvtt"], codecs: ["webvtt"])
}
