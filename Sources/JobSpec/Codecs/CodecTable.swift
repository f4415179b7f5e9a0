extension CodecModel {
    /// Every codec that can be written, in the order in which they are listed. Another one is a file beside this one, and a
    /// line here.
    static let table: [CodecModel] = [
        .h264,
        .hevc,
        .vp9,
        .av1,
        .prores,
        .mjpeg,
        .ffv1,
        .aac,
        .opus,
        .mp3,
        .ac3,
        .vorbis,
        .flac,
        .alac,
        .pcm16,
        .pcm24,
        .pcm32,
        .pcmFloat,
    ]
}
