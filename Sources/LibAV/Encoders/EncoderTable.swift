extension EncoderConfiguration {
    /// The model of the encoder; nil for encoders that programs name and the table doesn't contain.
    package var model: EncoderModel? { EncoderModel.named(encoder) }
}

extension EncoderModel {
    /// Supported encoders; those of a codec are in order of preference. A new encoder requires a file in this folder
    /// and a line in this table.
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
    private static let byPurpose = Dictionary(
        uniqueKeysWithValues: Purpose.allCases.map { purpose in
            (purpose, byCodec.mapValues { $0.filter { $0.purposes.contains(purpose) } })
        })

    /// Returns the model of an encoder by its FFmpeg name; nil if the table doesn't contain it.
    package static func named(_ encoder: String) -> EncoderModel? { byName[encoder] }

    /// Returns the models of a codec's encoders by the codec's FFmpeg name, in order of preference.
    package static func encoders(of codec: String, for purpose: Purpose = .tracks) -> [EncoderModel] {
        byPurpose[purpose]?[codec] ?? []
    }
}
