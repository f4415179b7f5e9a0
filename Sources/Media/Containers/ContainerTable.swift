extension ContainerModel {
    /// Every container that can be written, in the order in which they are listed. Another one is a file beside this one,
    /// and a line here.
    static let table: [ContainerModel] = [
        .mp4,
        .mov,
        .m4a,
        .mkv,
        .webm,
        .ts,
        .wav,
        .aiff,
        .flac,
        .ogg,
        .mp3,
        .adts,
        .srt,
        .webvtt,
        .ass,
    ]
}
