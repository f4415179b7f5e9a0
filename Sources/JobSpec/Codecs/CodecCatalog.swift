public import LibAV

/// A codec of the job language in this build: what is known of it, and the encoder that is there.
@dynamicMemberLookup
public final class CodecInfo: Sendable {
    /// What is known of it.
    public let model: CodecModel
    /// The first encoder that this build has.
    public let availableEncoder: EncoderInfo?
    private let trueLayouts: [ChannelLayout]?

    init(_ model: CodecModel) {
        self.model = model
        availableEncoder = model.encoders.lazy.compactMap { EncoderInfo(named: $0) }.first
        trueLayouts = model.layouts.map { $0.compactMap { ChannelLayout(named: $0) } }
    }

    /// A fact of its model.
    public subscript<Value>(dynamicMember path: KeyPath<CodecModel, Value>) -> Value { model[keyPath: path] }

    /// The channel layouts that it can have by an encoder; empty for any.
    public func layouts(of encoder: EncoderInfo) -> [ChannelLayout] { trueLayouts ?? encoder.layouts }
}

/// The codecs of the job language.
public enum CodecCatalog {
    /// Video codecs.
    public static let video = CodecModel.table.filter { $0.mediaType == .video }.map { CodecInfo($0) }
    /// Audio codecs.
    public static let audio = CodecModel.table.filter { $0.mediaType == .audio }.map { CodecInfo($0) }

    /// Names of a kind.
    public static func names(of type: MediaType) -> [String] { (type == .video ? video : audio).map(\.name) }

    private static let byName: [MediaType: [String: CodecInfo]] = [
        .video: Dictionary(uniqueKeysWithValues: video.map { ($0.name, $0) }),
        .audio: Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0) }),
    ]

    /// The codec of that name.
    public static func codec(_ name: String, of type: MediaType) -> CodecInfo? {
        byName[type]?[name]
    }
}
