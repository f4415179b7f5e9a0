internal import Media

/// `hvc1.PROFILE.COMPATIBILITY.TIERLEVEL.CONSTRAINTS` of HEVC (ISO/IEC 14496-15, annex E).
enum HEVCCodecString {
    /// Returns the string for `hvcC`, or for parameter sets with start codes. The sample entry is `hev1` if `tag` declares
    /// parameter sets in samples.
    static func value(_ headers: [UInt8], tag: String?) -> String? {
        let record = headers.first == 1 ? headers : HEVCHeaders(headers)?.configurationRecord ?? []
        guard record.count >= 23, record[0] == 1 else { return nil }
        let space = ["", "A", "B", "C"][Int(record[1] >> 6)]
        // Flags are written with the first one as the lowest bit.
        var flags = record[2..<6].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        var reversed: UInt32 = 0
        for _ in 0..<32 {
            reversed = reversed << 1 | flags & 1
            flags >>= 1
        }
        let tier = record[1] & 0x20 == 0 ? "L" : "H"
        var parts = [
            tag == "hev1" ? "hev1" : "hvc1", "\(space)\(record[1] & 0x1f)",
            String(reversed, radix: 16, uppercase: true), "\(tier)\(record[12])",
        ]
        var constraints = record[6..<12]
        while constraints.last == 0 { constraints.removeLast() }
        parts += constraints.map { String($0, radix: 16, uppercase: true) }
        return parts.joined(separator: ".")
    }
}
