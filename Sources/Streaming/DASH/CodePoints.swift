internal import LibAV

/// Code points of color properties (ISO/IEC 23091-2, CICP).
struct CodePoints: Hashable {
    let primaries: UInt16
    let transfer: UInt16
    let matrix: UInt16
    /// Whether samples have full range; false if unspecified.
    let isFullRange: Bool

    static let unspecified: UInt16 = 2
    /// Primaries of BT.2020.
    static let bt2020: UInt16 = 9

    init(_ color: ColorDescription) {
        var complete = color
        // libavutil's name of code point 2.
        complete.primaries = color.primaries ?? "unknown"
        complete.transfer = color.transfer ?? "unknown"
        complete.matrix = color.matrix ?? "unknown"
        let codes = complete.codes
        primaries = codes?.primaries ?? Self.unspecified
        transfer = codes?.transfer ?? Self.unspecified
        matrix = codes?.matrix ?? Self.unspecified
        isFullRange = color.range == .full
    }

    /// Whether players show two renditions in the same colors: unspecified properties are those of BT.709.
    func isEquivalent(to other: CodePoints) -> Bool {
        self == other || isStandard && other.isStandard && isFullRange == other.isFullRange
    }

    /// Whether primaries, transfer and matrix are those of BT.709, or unspecified.
    var isStandard: Bool { [primaries, transfer, matrix].allSatisfy { $0 == 1 || $0 == Self.unspecified } }
}
