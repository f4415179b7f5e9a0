internal import LibAV

extension ContainerModel {
    /// Ogg (RFC 3533).
    static let ogg: ContainerModel = {
        var model = audio("ogg", ["ogg", "oga", "opus"], tags: nil)
        model.codecs = .only(["opus", "vorbis", "flac", "speex"])
        model.requiresContiguousSamples = false
        model.hidesBeginningExcept = ["flac"]
        // libavformat writes chapters with Opus only.
        model.chapterCodecs = ["opus"]
        model.keepsChaptersInTags = true
        // The tags are named CHAPTER000 to CHAPTER999.
        model.maxChapters = 1000
        model.sharedKeys = ["description", "comment"]
        model.languages = [.audio]
        model.hasTrackTitles = true
        model.hasTrackTags = true
        model.defaultLayout = defaultFLACLayout
        model.endsWithTrailer = true
        model.framing = .ogg
        return model
    }()
}
