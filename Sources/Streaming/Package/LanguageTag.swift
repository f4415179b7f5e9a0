internal import Media

/// A language tag (BCP 47), such as `en` or `pt-BR`, with the shortest code of the language and the recommended case.
package struct LanguageTag: ValidatedText {
    package let value: String

    /// Creates a tag from a language of a container or a job file: an ISO 639-2 code (`eng`, `ger`), or a tag. Nil for
    /// `und`, an empty string, and text that isn't a tag.
    package init?(_ language: String) {
        let parts = language.split(separator: "-", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard let primary = parts.first, (2...8).contains(primary.utf8.count), primary != "und",
            primary.utf8.allSatisfy(Self.isLetter), language.utf8.count <= 64,
            parts.dropFirst().allSatisfy({
                (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isLetterOrDigit)
            })
        else { return nil }
        var tag = LanguageTable.shortCodes[primary] ?? primary
        var isExtension = false
        for part in parts.dropFirst() {
            if part.utf8.count == 1 { isExtension = true }
            tag += "-" + (isExtension ? part : Self.recommendedCase(part))
        }
        value = tag
    }

    /// The language's English name, followed by script, region and variants; the tag for languages without a code of two
    /// letters.
    var name: String {
        let parts = value.split(separator: "-", maxSplits: 1)
        guard let name = parts.first.flatMap({ LanguageTable.names[String($0)] }) else { return value }
        return parts.count == 2 ? "\(name) (\(parts[1]))" : name
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isLetter(byte) || (0x30...0x39).contains(byte)
    }

    /// Returns a script with an initial capital, a region in capitals, and other subtags unchanged.
    private static func recommendedCase(_ subtag: String) -> String {
        switch subtag.utf8.count {
        case 2: subtag.uppercased()
        case 4 where subtag.utf8.allSatisfy(isLetter): subtag.prefix(1).uppercased() + subtag.dropFirst()
        default: subtag
        }
    }
}
