/// Identifiers of jobs, assets, settings and other named elements of a job file.
package enum Identifier {
    /// The regular expression of identifiers, without anchors. Their length is limited as well.
    static let pattern = "[A-Za-z_][A-Za-z0-9_-]*"
    private static let maxLength = 200

    package static func isValid(_ text: String) -> Bool {
        guard let first = text.utf8.first else { return false }
        func isLetter(_ byte: UInt8) -> Bool {
            (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
        }
        return isLetter(first)
            && text.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
            && text.utf8.count <= maxLength
    }
}
