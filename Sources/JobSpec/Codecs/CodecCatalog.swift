package import LibAV

/// The codecs of the job language, each with its automatic encoder.
package enum CodecCatalog {
    package static let video = CodecModel.table.filter { $0.mediaType == .video }.map { CodecSelection($0) }
    package static let audio = CodecModel.table.filter { $0.mediaType == .audio }.map { CodecSelection($0) }

    /// Codecs of still images, named after their file formats.
    package static let imageCodecs = CodecModel.imageCodecs.map { CodecSelection($0) }

    /// Codecs of animations, named after their file formats.
    package static let animations = CodecModel.animations.map { CodecSelection($0) }

    /// 16-bit PCM, from which waveforms are measured.
    package static let waveform = CodecSelection(CodecModel.waveform)

    /// Returns the names of the codecs of a media type.
    package static func names(of type: MediaType) -> [String] { codecs(of: type).map(\.name) }

    package static func codecs(of type: MediaType) -> [CodecSelection] { type == .video ? video : audio }

    private static let byName: [MediaType: [String: CodecSelection]] = [
        .video: Dictionary(uniqueKeysWithValues: video.map { ($0.name, $0) }),
        .audio: Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0) }),
    ]

    /// Returns the codec with a name of the job language; nil if the name is unknown.
    package static func codec(_ name: String, of type: MediaType) -> CodecSelection? {
        byName[type]?[name]
    }

    /// Returns the codec of a still image format; nil if the format is unknown.
    package static func imageCodec(_ format: String) -> CodecSelection? {
        imageCodecs.first { $0.name == format }
    }

    /// Returns the codec of an animation format; nil if the format is unknown.
    package static func animation(_ format: String) -> CodecSelection? {
        animations.first { $0.name == format }
    }

    /// Returns the names of the encoders of a media type, ordered by codec and then by preference.
    package static func encoderNames(of type: MediaType) -> [String] {
        codecs(of: type).flatMap { $0.codec.encoders.map(\.name) }
    }

    private static let byEncoder: [String: CodecSelection] = Dictionary(
        uniqueKeysWithValues: (video + audio).flatMap { selection in
            selection.codec.encoders.map { ($0.name, CodecSelection(selection.codec, $0)) }
        })

    /// Returns the codec that an encoder produces, with that encoder selected; nil if the encoder is unknown.
    package static func encoder(_ name: String, of type: MediaType) -> CodecSelection? {
        byEncoder[name].flatMap { $0.mediaType == type ? $0 : nil }
    }

    private static let aliases: [String: String] = {
        var names: [String: String] = [:]
        for codec in CodecModel.table {
            for alias in codec.aliases { names[alias] = codec.name }
            for encoder in codec.encoders {
                for alias in [encoder.name] + encoder.aliases where alias != codec.name {
                    names[alias] = codec.name
                }
            }
        }
        return names
    }()

    /// Returns the codec that a name of another tool, such as an encoder's, refers to; nil if there is none.
    static func alias(_ name: String) -> String? { aliases[name.lowercased()] }
}
