package import LibAV

/// The codecs of the job language, each with its preferred encoder.
package enum CodecCatalog {
    /// Video codecs.
    package static let video = CodecModel.table.filter { $0.mediaType == .video }.map { CodecSelection($0) }
    /// Audio codecs.
    package static let audio = CodecModel.table.filter { $0.mediaType == .audio }.map { CodecSelection($0) }

    /// Codecs of still images by the names of their file formats.
    package static let stills = CodecModel.stills.map { CodecSelection($0) }

    /// Codecs of animations by the names of their file formats.
    package static let animations = CodecModel.animations.map { CodecSelection($0) }

    /// The samples that waveforms are measured from.
    package static let waveform = CodecSelection(CodecModel.waveform)

    /// The names of the codecs of a media type.
    package static func names(of type: MediaType) -> [String] { codecs(of: type).map(\.name) }

    /// The codecs of a media type.
    package static func codecs(of type: MediaType) -> [CodecSelection] { type == .video ? video : audio }

    private static let byName: [MediaType: [String: CodecSelection]] = [
        .video: Dictionary(uniqueKeysWithValues: video.map { ($0.name, $0) }),
        .audio: Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0) }),
    ]

    /// The codec of a name.
    package static func codec(_ name: String, of type: MediaType) -> CodecSelection? {
        byName[type]?[name]
    }

    /// The codec of a still image's format.
    package static func still(_ format: String) -> CodecSelection? { stills.first { $0.name == format } }

    /// The codec of an animation's format.
    package static func animation(_ format: String) -> CodecSelection? {
        animations.first { $0.name == format }
    }

    /// The names of the encoders of a media type, in the order of the codecs and of preference.
    package static func encoderNames(of type: MediaType) -> [String] {
        codecs(of: type).flatMap { $0.codec.encoders.map(\.name) }
    }

    private static let byEncoder: [String: CodecSelection] = Dictionary(
        uniqueKeysWithValues: (video + audio).flatMap { selection in
            selection.codec.encoders.map { ($0.name, CodecSelection(selection.codec, $0)) }
        })

    /// The codec of an encoder, with that encoder.
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

    /// The codec that people mean by a name from elsewhere, such as an encoder's.
    static func alias(_ name: String) -> String? { aliases[name.lowercased()] }
}
