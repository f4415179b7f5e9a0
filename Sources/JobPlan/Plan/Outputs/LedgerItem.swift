package import LibAV
internal import Media

/// An item of a source that the ledger accounts for. It is encoded as its text.
package enum LedgerItem: Hashable, Sendable {
    /// A tag of a track or the file, by its key.
    case tag(String)
    /// Side data of a track.
    case sideData(SideDataKind)
    /// Any other item: a track by its name, `3 chapters`, `display matrix`.
    case named(String)

    /// The timecode track that the run rewrites.
    static let timecodeTrack = LedgerItem.named("timecode track")
    /// The rotation of frames for display.
    static let displayMatrix = LedgerItem.named("display matrix")
    /// The visible part of frames.
    static let cleanAperture = LedgerItem.named("clean aperture")

    /// Returns the item of a track as a whole.
    static func track(_ track: TrackDescription) -> LedgerItem { .named(LedgerText.plainName(track)) }

    /// Name in plans and reports. It may contain untrusted text of the source.
    package var text: String {
        switch self {
        case .tag(let key): Self.tagPrefix + key
        case .sideData(let kind): Self.sideDataPrefix + kind.rawValue
        case .named(let name): name
        }
    }

    private static let tagPrefix = "tag "
    private static let sideDataPrefix = "side data "
}

extension LedgerItem: Codable {
    package init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        if text.hasPrefix(Self.tagPrefix) {
            self = .tag(String(text.dropFirst(Self.tagPrefix.count)))
        } else if text.hasPrefix(Self.sideDataPrefix) {
            self = .sideData(SideDataKind(rawValue: String(text.dropFirst(Self.sideDataPrefix.count))))
        } else {
            self = .named(text)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
