extension ContainerModel {
    /// RIFF's waves.
    static let wav: ContainerModel = {
        var model = audio(
            "wav", ["wav"],
            tags: [
                "artist", "comment", "copyright", "date", "genre", "language", "title", "album", "track",
                "encoder",
            ])
        // The muxer takes these too, without what their decoders need.
        model.codecs = .asked(except: ["aac", "vorbis", "opus", "flac", "alac"])
        model.hasChapters = false
        return model
    }()
}
