extension ContainerModel {
    /// SubRip's files.
    static let srt = cues("srt", ["srt"], codecs: ["subrip"])
}
