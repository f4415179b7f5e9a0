package import LibAV

/// A codec of the job language: its names, and the facts that hold whichever encoder is used. `EncoderModel` describes its
/// encoders, and `BitstreamTraits` its packets.
package struct CodecModel: Sendable {
    /// What decoders assume about the samples of a codec without reading it from the stream.
    package enum FixedColor: Sendable {
        /// Full range and the matrix of BT.601, as in JFIF.
        case jpeg
        /// Limited range.
        case limited
    }

    /// The name in job files.
    package let name: String
    /// The codec's libav name, for containers and encoders.
    package let libavName: String
    /// Video or audio.
    package let mediaType: MediaType
    /// What it encodes.
    package let purpose: EncoderModel.Purpose
    /// Names that people know it by elsewhere, in lower case.
    package var aliases: [String] = []
    /// The color description that decoders assume; nil where the stream or the container states it.
    package var fixedColor: FixedColor?
    /// The matrices that its headers can state; nil for all.
    package var matrices: [String]?
    /// Whether decoders always produce the codec's own sample rate.
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

    /// Its encoders in the order of preference.
    package var encoders: [EncoderModel] { EncoderModel.encoders(of: libavName, for: purpose) }

    /// The encoder when a job names none: the first software encoder that this build has; the preferred one where it has none.
    package var automaticEncoder: EncoderModel? {
        let encoders = encoders.filter { $0.requirement == nil }
        return encoders.first { EncoderInfo(named: $0.name) != nil } ?? encoders.first
    }
}
