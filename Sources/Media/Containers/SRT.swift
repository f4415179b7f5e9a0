extension ContainerModel {
    /// SubRip files.
    static let srt = cues("srt", ["srt"], codecs: ["subrip"])
}
