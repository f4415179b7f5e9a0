extension ContainerModel {
    /// RIFF WAVE.
    static let wav: ContainerModel = {
        var model = audio(
            "wav", ["wav"],
            tags: [
                "artist", "comment", "copyright", "date", "genre", "language", "title", "album", "track",
                "encoder",
            ])
        // The muxer also accepts these codecs, but doesn't write the data that their decoders require.
        model.codecs = .queried(except: ["aac", "vorbis", "opus", "flac", "alac"])
        model.hasChapters = false
        return model
    }()
}
