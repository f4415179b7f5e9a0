extension ContainerModel {
    /// WebVTT files.
    static let webvtt = cues("webvtt", ["vtt", "webvtt"], codecs: ["webvtt"])
}
