internal import Diagnostics
internal import YAMLDocument

/// The keys of a job or output that determine the output's kind. At most one of them may be set.
enum OutputKindKey: String, CaseIterable {
    case tracks
    case export
    case images
    case waveform
    case check

    /// Whether the output is written to `destination`.
    var hasDestination: Bool { self != .check }

    /// Whether one of several outputs of a job may have the key; `defaults` sets it for each of them.
    var isAllowedInOutputs: Bool { self != .check }

    /// Whether the key describes a media file, so that its container is set by `container` or the destination's
    /// extension.
    var isMedia: Bool {
        switch self {
        case .tracks, .export: true
        case .images, .waveform, .check: false
        }
    }

    /// Whether placeholders of still images, such as `${image.number}`, are allowed in the destination.
    var namesImages: Bool { self == .images }

    /// Returns the names of the keys that meet a condition, in the order of the cases.
    static func names(where condition: (Self) -> Bool = { _ in true }) -> [String] {
        allCases.filter(condition).map(\.rawValue)
    }

    /// Returns the first key that a mapping has and that meets a condition; nil if there is none.
    static func first(
        of fields: Fields, where condition: (Self) -> Bool = { _ in true }
    ) -> (key: Self, entry: YAMLNode.Entry)? {
        for key in allCases where condition(key) {
            if let entry = fields[key.rawValue] { return (key, entry) }
        }
        return nil
    }

    /// Returns whether a job or output has a key of still images.
    static func namesImages(_ node: YAMLNode) -> Bool {
        allCases.contains { $0.namesImages && node[key: $0.rawValue] != nil }
    }
}

extension OutputSpec {
    /// The kind of an output, with its configuration.
    package enum Kind: Sendable {
        /// Tracks in a container.
        case media(MediaSpec)
        /// Still images of one track.
        case images(ImagesSpec)
        /// A waveform of one track.
        case waveform(WaveformSpec)
        /// A check of the source, without an output.
        case check(CheckSpec)
        /// A folder of renditions with manifests.
        case package(PackageSpec)

        /// Whether `container`, `format` or the destination determines a container.
        var hasContainer: Bool {
            switch self {
            case .media, .images, .waveform: true
            case .check, .package: false
            }
        }

        /// The reason why another job can't read the output, and the location of the kind; nil if it can.
        var readingProblem: (text: String, location: SourceRange)? {
            switch self {
            case .media: nil
            case .images(let images): ("still images, which can't be read as an asset", images.range)
            case .waveform(let waveform): ("a waveform, which can't be read as an asset", waveform.range)
            case .check(let check): ("no output, because it is a check", check.range)
            case .package(let package): ("a package, which can't be read as an asset", package.range)
            }
        }
    }

    /// Tracks in a container; nil for other kinds.
    package var media: MediaSpec? { if case .media(let media) = kind { media } else { nil } }

    /// Package; nil for other kinds.
    package var package: PackageSpec? {
        if case .package(let package) = kind { package } else { nil }
    }

    /// Image output; nil for other kinds.
    package var images: ImagesSpec? {
        if case .images(let images) = kind { images } else { nil }
    }

    /// Whether the number of the output's files depends on the source, as that of still images and of tracks does.
    package var hasVariableFileCount: Bool { images != nil || isUndivided }

    /// Extension of a second file beside the destination, the index of a sheet; nil without one.
    package var companionExtension: String? { images?.sheet?.index == nil ? nil : "vtt" }

    /// Whether the output may have several files.
    package var hasSeveralFiles: Bool { namesEachImage || companionExtension != nil }

    /// Whether the output is a folder.
    package var isFolder: Bool { if case .package = kind { true } else { false } }

    package var isCheck: Bool { if case .check = kind { true } else { false } }

    /// Whether the container depends on the matches of a pattern.
    package var lacksContainer: Bool { kind.hasContainer && container == nil }
}
