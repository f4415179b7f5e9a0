extension EncoderModel {
    /// Encoders, those of each codec in the order of preference. A new encoder requires a file beside this
    /// one, and a line here.
    package static let table: [EncoderModel] = [
        .x264,
        .openH264,
        .h264NVENC,
        .h264VAAPI,
        .h264QSV,
        .x265,
        .hevcNVENC,
        .vpxVP9,
        .svtAV1,
        .aomAV1,
        .rav1e,
        .proresKS,
        .mjpeg,
        .ffv1,
        .aac,
        .opus,
        .lame,
        .ac3,
        .vorbis,
        .flac,
        .alac,
        .pcm16,
        .pcm24,
        .pcm32,
        .pcmFloat,
        .png,
        .webp,
        .gif,
        .animatedWebP,
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: table.map { ($0.name, $0) })
    private static let byCodec = Dictionary(grouping: table, by: \.codec)

    /// Returns the encoder with a name in libavcodec; nil if the table doesn't contain it.
    package static func named(_ encoder: String) -> EncoderModel? { byName[encoder] }

    /// Returns the encoder with a name in libavcodec; for an unlisted encoder, a model with default values.
    package static func of(_ encoder: String) -> EncoderModel {
        byName[encoder] ?? EncoderModel(encoder, codec: "", .video)
    }

    /// Returns the encoders of a codec by its libav name, in the order of preference.
    package static func encoders(of codec: String, for purpose: Purpose = .tracks) -> [EncoderModel] {
        (byCodec[codec] ?? []).filter { $0.purposes.contains(purpose) }
    }
}
