/// The name of a part or a detail of a digest, from the outside in: `source time`, `track 0 encoder width`. Digests of
/// earlier runs are recorded with these names, so the text is their form.
struct PartName {
    let text: String

    init(_ text: String) { self.text = text }

    /// Whether the value identifies the source, such as its time.
    var identifiesSource: Bool { text.hasPrefix("source") }
    /// Whether the value describes the source or one of its tracks, and changes with it.
    var describesSource: Bool { identifiesSource || text.contains(" source ") }
    /// Whether the value is the range that is read.
    var isRange: Bool { text == "range" }
    /// Whether the value is a bound of the range that is read.
    var isBoundOfRange: Bool { text.hasPrefix("range ") }
    /// Whether the value is the cover from an image file.
    var isCover: Bool { text == "cover" }
    /// Whether the value is a property of the cover from an image file.
    var isOfCover: Bool { text.hasPrefix("cover image ") }

    /// Name of the output's track that the value belongs to: `track 0`; nil for any other value.
    var track: PartName? {
        guard text.hasPrefix("track ") else { return nil }
        return PartName(text.split(separator: " ").prefix(2).joined(separator: " "))
    }

    /// Returns whether the value is a setting of a track's encoding, which changes with the keys of `encode`.
    func isSetting(of track: PartName) -> Bool {
        ["video", "audio", "encoder"].contains { text.hasPrefix("\(track.text) \($0) ") }
    }
}
