internal import LibAV

/// What subtitles that are frames show after some of their display sets.
///
/// A set may be an update, which builds on the sets since the last one that began anew. Whoever begins with it must have
/// those too.
protocol DisplaySets {
    /// Takes a packet in, one set or a part of it.
    mutating func take(_ bytes: UnsafeRawBufferPointer)
    /// A set that began anew was seen.
    var hasBegun: Bool { get }
    /// The last set needs others.
    var isUpdate: Bool { get }
    /// All that the last set shows as one set, which begins anew.
    var wholeSet: [UInt8] { get }
}

/// The bounds of them all.
enum DisplaySetLimit {
    /// More than any decoder keeps.
    static let bytes = 16 << 20
}

extension AssetTrack {
    /// What follows the track's display sets; nil where each packet stands by itself.
    var displaySets: (any DisplaySets)? {
        switch format.parameters.traits.displaySets {
        case .pgs: PGSDisplay()
        case .dvb: DVBDisplay()
        case nil: nil
        }
    }

    /// A packet that begins anew, where others build on those before them.
    func beginsDisplay(_ packet: borrowing Packet) -> Bool {
        guard var display = displaySets else { return true }
        packet.withBytes { display.take($0) }
        return display.hasBegun
    }
}
