/// A kind of side data that applies to a whole stream, by a stable short name.
package struct SideDataKind: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
    /// Name in plans: one of those below, or FFmpeg's name of the type.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package var description: String { rawValue }

    package static let displayMatrix = SideDataKind(rawValue: "displaymatrix")
    /// Color volume of the mastering display (SMPTE ST 2086).
    package static let masteringDisplay = SideDataKind(rawValue: "mastering")
    /// Maximum and average content light level (CTA-861.3).
    package static let contentLight = SideDataKind(rawValue: "cll")
    /// Configuration of Dolby Vision.
    package static let dolbyVision = SideDataKind(rawValue: "dovi")
    package static let colorProfile = SideDataKind(rawValue: "icc")
    /// The second view of MV-HEVC, whose configuration (`lhvC`) libavformat neither reads nor writes.
    package static let secondView = SideDataKind(rawValue: "second view")
}
