package import LibAV

/// A codec of the job language with the encoder that is used for it: the first software encoder of this build, or the
/// one that `encoder` sets. Members of `EncoderModel` are forwarded by dynamic member lookup.
@dynamicMemberLookup
package final class CodecSelection: Sendable {
    package let codec: CodecModel
    package let encoder: EncoderModel
    /// The encoder in libavcodec; nil if this build lacks it.
    package let availableEncoder: EncoderInfo?
    /// Whether the encoder is the codec's automatic one.
    package let isAutomatic: Bool
    private let trueLayouts: [ChannelLayout]?
    private let modelFormats: [PixelFormat]?

    package init(_ codec: CodecModel, _ encoder: EncoderModel) {
        self.codec = codec
        self.encoder = encoder
        availableEncoder = EncoderInfo(named: encoder.name)
        isAutomatic = encoder.name == codec.automaticEncoder?.name
        trueLayouts = encoder.samples.layouts.map { $0.compactMap { ChannelLayout(named: $0) } }
        modelFormats = encoder.frames.pixelFormats.map { $0.compactMap { PixelFormat(named: $0) } }
    }

    /// Creates a selection with the codec's automatic encoder. A codec without encoders gets a placeholder that can't
    /// be opened.
    package convenience init(_ codec: CodecModel) {
        self.init(
            codec, codec.automaticEncoder ?? EncoderModel("", codec: codec.libavName, codec.mediaType))
    }

    package subscript<Value>(dynamicMember path: KeyPath<EncoderModel, Value>) -> Value {
        encoder[keyPath: path]
    }

    /// Name of the codec in job files.
    package var name: String { codec.name }
    /// Name of the codec in libavcodec.
    package var libavName: String { codec.libavName }
    package var mediaType: MediaType { codec.mediaType }
    /// Whether the codec encodes still images or animations.
    package var isStill: Bool { codec.purpose != .tracks }
    /// `quality` of still images; nil for tracks, and for lossless codecs.
    package var stillQuality: EncoderModel.ImageQuality? { isStill ? encoder.rate.imageQuality : nil }
    /// Name in messages about settings: that of the encoder if it isn't the codec's preferred one, otherwise that of
    /// the codec.
    package var label: String { encoder.name == codec.encoders.first?.name ? codec.name : encoder.name }

    /// Returns the channel layouts that an encoder accepts; empty for any.
    package func layouts(of encoder: EncoderInfo) -> [ChannelLayout] { trueLayouts ?? encoder.layouts }

    /// Returns the pixel formats that an encoder accepts; empty for any.
    package func pixelFormats(of encoder: EncoderInfo) -> [PixelFormat] {
        modelFormats ?? encoder.pixelFormats
    }
}
