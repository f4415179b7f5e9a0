internal import CFFmpeg

/// An option or metadata dictionary (`AVDictionary`), freed by its destructor.
struct AVDictionaryOwner: ~Copyable {
    var raw: OpaquePointer?

    init() { raw = nil }

    init(_ pairs: some Sequence<(key: String, value: String)>) {
        raw = nil
        for (key, value) in pairs { av_dict_set(&raw, key, value, 0) }
    }

    deinit {
        var copy = raw
        av_dict_free(&copy)
    }

    /// Keys in the dictionary. After a call that consumes options, these are the unknown options.
    var keys: [String] { LibAV.metadata(raw).map(\.key) }
}

/// A key and its value: a metadata tag of a container or track, or an option.
public struct MetadataEntry: Hashable, Codable, Sendable {
    /// Key: libavformat's name of the tag (`title`, `artist`, …), or the name of the option.
    public var key: String
    /// Value, with control characters unchanged.
    public var value: String
    /// Creates an entry; neither part is validated.
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

extension MetadataEntry {
    /// Key of the tag that contains a timecode. A timecode is planned and verified apart from other tags.
    package static let timecodeKey = "timecode"

    /// Returns whether a tag with a key contains a timecode; the case of the key is ignored.
    package static func isTimecode(_ key: String) -> Bool { key.lowercased() == timecodeKey }

    /// Whether the tag contains a timecode.
    package var isTimecode: Bool { Self.isTimecode(key) }
}

func metadata(_ dictionary: OpaquePointer?) -> [MetadataEntry] {
    var entries: [MetadataEntry] = []
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while let next = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
        entries.append(
            MetadataEntry(key: String(cString: next.pointee.key), value: String(cString: next.pointee.value)))
        entry = next
    }
    return entries
}
