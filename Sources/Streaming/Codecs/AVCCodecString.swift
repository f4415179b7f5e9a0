internal import Media

/// `avc1.PPCCLL`: profile, constraints and level of H.264 in hexadecimal digits (ISO/IEC 14496-15, annex E).
enum AVCCodecString {
    /// Returns the string for `avcC`, or for parameter sets with start codes. The sample entry is `avc3` if `tag` declares
    /// parameter sets in samples.
    static func value(_ headers: [UInt8], tag: String?) -> String? {
        let record = headers.first == 1 ? headers : AVCHeaders(headers)?.configurationRecord ?? []
        guard record.count >= 7, record[0] == 1 else { return nil }
        return "\(tag == "avc3" ? "avc3" : "avc1")." + record[1...3].map { hexadecimal($0) }.joined()
    }
}
