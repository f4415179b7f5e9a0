package import LibAV

/// A codec of the job language: its names, and the properties that don't depend on the encoder.
/// `EncoderModel` describes its encoders, and `BitstreamTraits` its packets.
package struct CodecModel: Sendable {
    /// The color description that decoders assume, without reading it from the stream.
    package enum FixedColor: Sendable {
        /// Full range and the matrix of BT.601, as in JFIF.
        case jpeg
        /// Limited range.
        case limited
    }

    /// Name in job files.
    package let name: String
    /// Name of the codec in libavcodec, by which containers and encoders refer to it.
    package let libavName: String
    package let mediaType: MediaType
    /// Kind of output that the codec is used for.
    package let purpose: EncoderModel.Purpose
    /// Names of the codec in other tools, in lower case.
    package var aliases: [String] = []
    /// Color description that decoders assume; nil if the stream or the container declares it.
    package var fixedColor: FixedColor?
    /// Matrices that the codec's headers can declare; nil for all.
    package var matrices: [String]?
    /// Whether decoders output a fixed sample rate whatever the rate of the source, as with Opus (48 kHz).
    package var hasOwnSampleRate = false

    init(
        _ name: String, _ mediaType: MediaType, libavName: String? = nil,
        purpose: EncoderModel.Purpose = .tracks, _ change: (inout CodecModel) -> Void = { _ in }
    ) {
        self.name = name
        self.libavName = libavName ?? name
        self.mediaType = mediaType
        self.purpose = purpose
        change(&self)
    }

    /// Encoders of the codec in the order of preference.
    package var encoders: [EncoderModel] { EncoderModel.encoders(of: libavName, for: purpose) }

    /// Default encoder: the first software encoder that this build contains, or the preferred one if it contains none.
    package var automaticEncoder: EncoderModel? {
        let encoders = encoders.filter { $0.requirement == nil }
        return encoders.first { EncoderInfo(named: $0.name) != nil } ?? encoders.first
    }
}
