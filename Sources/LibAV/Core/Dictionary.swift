internal import CFFmpeg

/// An option or metadata dictionary (`AVDictionary`), freed with its scope.
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

    /// Remaining keys, which belong to options that no component consumed.
    var keys: [String] { LibAV.metadata(raw).map(\.key) }
}

/// A metadata tag of a container or track.
public struct MetadataEntry: Hashable, Codable, Sendable {
    /// The key, by libavformat's name (`title`, `artist`, …).
    public var key: String
    /// The value, with control characters unchanged.
    public var value: String
    /// Creates an entry.
    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
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
