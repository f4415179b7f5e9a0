internal import LibAV

/// State of a bitmap subtitle stream after a number of display sets.
///
/// A display set may be an update, which depends on the sets since the last self-contained one. A section that begins
/// with an update requires their contents.
protocol DisplaySets {
    /// Processes a packet, which is a display set or a part of one.
    mutating func take(_ bytes: UnsafeRawBufferPointer)
    /// Whether a self-contained set was processed.
    var hasBegun: Bool { get }
    /// Whether the last set depends on earlier ones.
    var isUpdate: Bool { get }
    /// The state after the last set, as one self-contained set.
    var wholeSet: [UInt8] { get }
}

/// Limits that apply to all subtitle formats.
enum DisplaySetLimit {
    /// Maximum size of the state in bytes, larger than any decoder's.
    static let bytes = 16 << 20
}

extension AssetTrack {
    /// An empty state for the track's display sets; nil if its packets are independent.
    var displaySets: (any DisplaySets)? {
        switch format.parameters.traits.displaySets {
        case .pgs: PGSDisplay()
        case .dvb: DVBDisplay()
        case nil: nil
        }
    }

    /// Returns whether a packet is self-contained; true for any packet of a track whose packets are independent.
    func beginsDisplay(_ packet: borrowing Packet) -> Bool {
        guard var display = displaySets else { return true }
        packet.withBytes { display.take($0) }
        return display.hasBegun
    }
}
