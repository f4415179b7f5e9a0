package import FoundationEssentials

/// The escaping of untrusted text for output. File names, tags and messages of libraries could otherwise move a
/// terminal's cursor, end a line or a command, or reorder the text around them.
///
/// Text is escaped by Unicode scalars: CR LF is one `Character`, but two scalars that end a line.
package enum SafeText {
    /// Returns whether a scalar ends a line, moves a terminal's cursor, changes the order of text or is invisible.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09: false
        // Control characters, line separators, bidirectional marks and overrides, invisible joiners, tags, and
        // invisible letters, which make different names look the same. Variation selectors (0xfe00...0xfe0f) are not
        // hidden, since emoji in names contain them.
        case 0..<0x20, 0x7f...0x9f, 0x061c, 0x200b...0x200f, 0x2028...0x202e, 0x2060...0x206f, 0xfeff,
            0xfff0...0xfffb, 0xad, 0x034f, 0x115f...0x1160, 0x17b4...0x17b5, 0x180b...0x180f, 0x3164, 0xffa0,
            0x1bca0...0x1bca3, 0x1d173...0x1d17a, 0xe0000...0xe0fff:
            true
        default: false
        }
    }

    /// Returns the text as a single line, with U+FFFD in place of every hidden scalar.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { isHidden($0) ? "\u{fffd}" : $0 }))
    }

    /// Returns the text with U+FFFD in place of every hidden scalar except newlines.
    package static func lines(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { isHidden($0) && $0 != "\n" ? "\u{fffd}" : $0 }))
    }

    /// Returns JSON with every hidden scalar in its strings escaped as `\uXXXX`, which has the same meaning and is
    /// safe to print.
    package static func json(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0 != "\n" && isHidden($0) }) else { return text }
        return escaped(text) { scalar in
            guard scalar != "\n", isHidden(scalar) else { return nil }
            return String(scalar).utf16.map { unit in
                let digits = String(unit, radix: 16)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }.joined()
        }
    }

    /// Returns the bytes of JSON with hidden scalars escaped.
    package static func json(_ data: Data) -> Data { Data(json(String(decoding: data, as: UTF8.self)).utf8) }

    /// Returns the text as one word of a shell (bash, ksh, zsh), quoted if required. Tabs and hidden scalars are
    /// written as octal escapes in `$'…'`, which preserve the value.
    package static func shellWord(_ text: String) -> String {
        if text.unicodeScalars.contains(where: { $0 == "\t" || isHidden($0) }) {
            let inner = escaped(text) { scalar in
                switch scalar {
                case "'": "\\'"
                case "\\": "\\\\"
                case _ where scalar == "\t" || isHidden(scalar):
                    // An octal escape of three digits is complete, regardless of the next character.
                    String(scalar).utf8.map { byte in
                        "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
                    }.joined()
                default: nil
                }
            }
            return "$'\(inner)'"
        }
        let isPlain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                        || "_-./".unicodeScalars.contains(scalar))
            }
        return isPlain ? text : singleQuoted(text)
    }

    /// Returns the text in single quotes, which a POSIX shell reads as one word with the same bytes. Quotes are searched
    /// among the bytes: one with a combining mark is another character than a quote.
    package static func singleQuoted(_ text: String) -> String {
        var bytes = Array("'".utf8)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "'") { bytes += #"'\''"#.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self) + "'"
    }

    /// Returns the text as an HTML `<code>` element for Markdown, with U+FFFD in place of every hidden scalar and at most
    /// `limit` scalars. Characters with a meaning in Markdown, HTML or tables are written as character references, which
    /// aren't markup; mentions, references and links aren't recognized within code.
    package static func markdownCode(_ text: String, limit: Int = 300) -> String {
        var previous: Unicode.Scalar = " "
        let scalars = text.unicodeScalars
        let shown = scalars.prefix(limit)
        var code = shown.map { scalar -> String in
            defer { previous = scalar }
            if isHidden(scalar) { return "\u{fffd}" }
            if scalar == "\t" { return " " }
            // Linkers recognize `www.` as well as schemes.
            let isLetter =
                !scalar.isASCII || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            let isPlain =
                scalar == "." ? previous != "w" && previous != "W" : " /-,%+=".unicodeScalars.contains(scalar)
            return isLetter || isPlain ? String(scalar) : "&#\(scalar.value);"
        }.joined()
        if shown.endIndex < scalars.endIndex { code += "…" }
        return "<code>\(code)</code>"
    }

    /// Returns the escaped data of a GitHub workflow command.
    static func workflowData(_ text: String) -> String {
        escaped(lines(text)) { scalar in
            switch scalar {
            case "%": "%25"
            case "\r": "%0D"
            case "\n": "%0A"
            default: nil
            }
        }
    }

    /// Returns the escaped value of a property of a GitHub workflow command.
    static func workflowProperty(_ text: String) -> String {
        escaped(line(text)) { scalar in
            switch scalar {
            case "%": "%25"
            case ":": "%3A"
            case ",": "%2C"
            default: nil
            }
        }
    }

    private static func escaped(_ text: String, _ replacement: (Unicode.Scalar) -> String?) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if let other = replacement(scalar) {
                result.append(contentsOf: other.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}
