extension ContainerModel {
    /// All containers that can be written, in the order of listings. A new container requires a file in this folder,
    /// and an entry here.
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
