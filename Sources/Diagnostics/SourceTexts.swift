internal import ExactStrings

/// The texts of the files that messages refer to, for excerpts. A text is indexed when its first excerpt is
/// requested.
package struct SourceTexts: Sendable {
    private var texts: [ExactString: SourceText] = [:]

    package init() {}

    package init(_ file: String, _ text: String) { texts[file.exact] = SourceText(Array(text.utf8)) }

    /// Adds the bytes of a file, by the name that messages use for it.
    package mutating func add(_ bytes: [UInt8], of file: String) { texts[file.exact] = SourceText(bytes) }

    /// Adds all texts of another collection, which replace texts of the same name.
    package mutating func add(_ other: SourceTexts) { texts.merge(other.texts) { $1 } }

    /// Names and bytes of all files, sorted by name.
    package var all: [(file: String, bytes: [UInt8])] {
        texts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.bytes) }
    }

    /// Returns the code points in a range of columns of a line; nil if the line doesn't exist. Lines are counted from
    /// 1, columns from 0.
    func excerpt(ofLine line: Int, _ columns: Range<Int>, of file: String) -> SourceText.Excerpt? {
        texts[file.exact]?.excerpt(ofLine: line, columns)
    }
}
