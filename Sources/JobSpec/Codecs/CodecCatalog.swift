package import LibAV

/// A codec of the job language in this build: what is known of it, and the encoder that is there.
@dynamicMemberLookup
package final class CodecInfo: Sendable {
    /// What is known of it.
    package let model: CodecModel
    /// The first encoder that this build has.
    package let availableEncoder: EncoderInfo?
    private let trueLayouts: [ChannelLayout]?

    init(_ model: CodecModel) {
        self.model = model
        availableEncoder = model.encoders.lazy.compactMap { EncoderInfo(named: $0) }.first
        trueLayouts = model.layouts.map { $0.compactMap { ChannelLayout(named: $0) } }
    }

    /// A fact of its model.
    package subscript<Value>(dynamicMember path: KeyPath<CodecModel, Value>) -> Value { model[keyPath: path] }

    /// The channel layouts that it can have by an encoder; empty for any.
    package func layouts(of encoder: EncoderInfo) -> [ChannelLayout] { trueLayouts ?? encoder.layouts }
}

/// The codecs of the job language.
package enum CodecCatalog {
    /// Video codecs.
    package static let video = CodecModel.table.filter { $0.mediaType == .video }.map { CodecInfo($0) }
    /// Audio codecs.
    package static let audio = CodecModel.table.filter { $0.mediaType == .audio }.map { CodecInfo($0) }

    /// Codecs of stills, by the names of their files' formats.
    package static let stills = CodecModel.stills.map { CodecInfo($0) }

    /// Codecs of animations, by the names of their files' formats.
    package static let animations = CodecModel.animations.map { CodecInfo($0) }

    /// What audio is decoded to for a waveform.
    package static let waveform = CodecInfo(CodecModel.waveform)

    /// Names of a kind.
    package static func names(of type: MediaType) -> [String] { (type == .video ? video : audio).map(\.name) }

    private static let byName: [MediaType: [String: CodecInfo]] = [
        .video: Dictionary(uniqueKeysWithValues: video.map { ($0.name, $0) }),
        .audio: Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0) }),
    ]

    /// The codec of that name.
    package static func codec(_ name: String, of type: MediaType) -> CodecInfo? {
        byName[type]?[name]
    }

    /// The codec of a format of stills.
    package static func still(_ format: String) -> CodecInfo? { stills.first { $0.name == format } }

    /// The codec of a format of animations.
    package static func animation(_ format: String) -> CodecInfo? { animations.first { $0.name == format } }
}
