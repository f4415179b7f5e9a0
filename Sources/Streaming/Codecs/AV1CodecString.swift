internal import LibAV

/// `av01.P.LLT.DD`, followed by monochrome, chroma and color properties if one of them isn't the default (AV1 Codec ISO
/// Media File Format Binding, 5).
enum AV1CodecString {
    /// Returns the string for `av1C`; nil for other headers.
    static func value(_ record: [UInt8], color: ColorDescription) -> String? {
        // Marker and version 1.
        guard record.count >= 4, record[0] == 0x81 else { return nil }
        let (profile, level) = (record[1] >> 5, record[1] & 0x1f)
        let flags = record[2]
        let tier = flags & 0x80 == 0 ? "M" : "H"
        let depth = flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
        let base = "av01.\(profile).\(twoDigits(Int(level)))\(tier).\(twoDigits(depth))"
        let monochrome = flags >> 4 & 1
        let (horizontal, vertical) = (flags >> 3 & 1, flags >> 2 & 1)
        // The chroma position is only meaningful for 4:2:0.
        let position = horizontal == 1 && vertical == 1 ? flags & 3 : 0
        let code = CodePoints(color)
        let isDefault =
            monochrome == 0 && horizontal == 1 && vertical == 1 && position == 0 && code.isStandard
            && !code.isFullRange
        guard !isDefault else { return base }
        let colors = [code.primaries, code.transfer, code.matrix].map { twoDigits(Int($0)) }
        return "\(base).\(monochrome).\(horizontal)\(vertical)\(position).\(colors.joined(separator: "."))"
            + (code.isFullRange ? ".1" : ".0")
    }
}
