package import LibAV

/// A codec of the job language and the encoder that is used for it: the first software encoder of this build, or the one that
/// `encoder` names.
/// The members of `EncoderModel` are its own.
@dynamicMemberLookup
package final class CodecSelection: Sendable {
    /// The codec.
    package let codec: CodecModel
    /// The encoder.
    package let encoder: EncoderModel
    /// The encoder in this build; nil where the build lacks it.
    package let availableEncoder: EncoderInfo?
    /// Whether it is the encoder that the codec has when the job names none.
    package let isAutomatic: Bool
    private let trueLayouts: [ChannelLayout]?
    private let modelFormats: [PixelFormat]?

    /// The codec with one of its encoders.
    package init(_ codec: CodecModel, _ encoder: EncoderModel) {
        self.codec = codec
        self.encoder = encoder
        availableEncoder = EncoderInfo(named: encoder.name)
        isAutomatic = encoder.name == codec.automaticEncoder?.name
        trueLayouts = encoder.layouts.map { $0.compactMap { ChannelLayout(named: $0) } }
        modelFormats = encoder.pixelFormats.map { $0.compactMap { PixelFormat(named: $0) } }
    }

    /// The codec with the encoder that is used when the job names none. A codec without any encoder in the table has none that
    /// opens.
    package convenience init(_ codec: CodecModel) {
        self.init(
            codec, codec.automaticEncoder ?? EncoderModel("", codec: codec.libavName, codec.mediaType))
    }

    /// A member of its encoder's model.
    package subscript<Value>(dynamicMember path: KeyPath<EncoderModel, Value>) -> Value {
        encoder[keyPath: path]
    }

    /// The codec's name in job files.
    package var name: String { codec.name }
    /// The codec's libav name.
    package var libavName: String { codec.libavName }
    /// Video or audio.
    package var mediaType: MediaType { codec.mediaType }
    /// Whether it encodes image files.
    package var isStill: Bool { codec.purpose != .tracks }
    /// `quality` of stills; nil for tracks, and where nothing is lost.
    package var stillQuality: EncoderModel.StillQuality? { isStill ? encoder.stillQuality : nil }
    /// The subject of messages about its settings: the codec, or an encoder that isn't the codec's first one.
    package var label: String { encoder.name == codec.encoders.first?.name ? codec.name : encoder.name }

    /// The channel layouts that an encoder accepts; empty for any.
    package func layouts(of encoder: EncoderInfo) -> [ChannelLayout] { trueLayouts ?? encoder.layouts }

    /// The pixel formats of frames that an encoder accepts; empty for any.
    package func pixelFormats(of encoder: EncoderInfo) -> [PixelFormat] {
        modelFormats ?? encoder.pixelFormats
    }
}
