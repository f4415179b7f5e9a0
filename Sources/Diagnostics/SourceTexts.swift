internal import ExactStrings

/// The texts of the files that messages point into, for excerpts. Lines are looked for when a message wants one.
package struct SourceTexts: Sendable {
    private var texts: [ExactString: [UInt8]] = [:]

    /// Without any.
    package init() {}

    /// With one text.
    package init(_ file: String, _ text: String) { texts[file.exact] = Array(text.utf8) }

    /// Adds a file's bytes under the name that messages use.
    package mutating func add(_ bytes: [UInt8], of file: String) { texts[file.exact] = bytes }

    /// All of another's too.
    package mutating func add(_ other: SourceTexts) { texts.merge(other.texts) { $1 } }

    /// Every file's name and bytes, by name.
    package var all: [(file: String, bytes: [UInt8])] {
        texts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value) }
    }

    /// A line, counted from 1, without its end; nil where there is none.
    ///
    /// A line ends as YAML says: LF, CR, CRLF, and the three of Unicode.
    package func line(_ number: Int, of file: String) -> String? {
        guard let bytes = texts[file.exact], number >= 1 else { return nil }
        var index = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        var current = 1
        while current < number {
            guard let end = Self.end(of: bytes, from: index), end.next <= bytes.count else { return nil }
            index = end.next
            current += 1
        }
        let stop = Self.end(of: bytes, from: index)?.at ?? bytes.count
        return String(decoding: bytes[index..<stop], as: UTF8.self)
    }

    private static func end(of bytes: [UInt8], from start: Int) -> (at: Int, next: Int)? {
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case 0x0a: return (index, index + 1)
            case 0x0d:
                return (index, index + 1 < bytes.count && bytes[index + 1] == 0x0a ? index + 2 : index + 1)
            case 0xc2 where index + 1 < bytes.count && bytes[index + 1] == 0x85: return (index, index + 2)
            case 0xe2
            where index + 2 < bytes.count && bytes[index + 1] == 0x80 && bytes[index + 2] & 0xfe == 0xa8:
                return (index, index + 3)
            default: index += 1
            }
        }
        return nil
    }
}
