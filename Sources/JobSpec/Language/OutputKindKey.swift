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
