internal import ExactStrings
internal import Locking

/// The texts of the files that messages refer to, for excerpts. A text is indexed when its first excerpt is
/// requested.
package struct SourceTexts: Sendable {
    private var texts: [ExactString: IndexedText] = [:]

    package init() {}

    package init(_ file: String, _ text: String) { texts[file.exact] = IndexedText(Array(text.utf8)) }

    /// Adds the bytes of a file, by the name that messages use for it.
    package mutating func add(_ bytes: [UInt8], of file: String) { texts[file.exact] = IndexedText(bytes) }

    /// Adds all texts of another collection, which replace texts of the same name.
    package mutating func add(_ other: SourceTexts) { texts.merge(other.texts) { $1 } }

    /// Names and bytes of all files, sorted by name.
    package var all: [(file: String, bytes: [UInt8])] {
        texts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.bytes) }
    }

    struct Excerpt {
        /// Code points of the excerpt. `first` is the column of the first one, counted from 0.
        var characters: [Character]
        var first: Int
        /// Whether the line continues after the excerpt.
        var isCut: Bool
    }

    /// Returns the code points in a range of columns of a line; nil if the line doesn't exist. Lines are counted from
    /// 1, columns from 0.
    ///
    /// Lines end as in YAML 1.1: at LF, CR, CRLF, and the three line breaks of Unicode.
    func excerpt(ofLine line: Int, _ columns: Range<Int>, of file: String) -> Excerpt? {
        guard let text = texts[file.exact], line >= 1 else { return nil }
        return text.excerpt(ofLine: line, columns)
    }
}

/// A text with an index of positions, by which lines and columns are found without a scan from the beginning.
private final class IndexedText: Sendable {
    let bytes: [UInt8]
    private let marks = Guarded<[Position]>([])

    /// The position of a code point: its byte offset, its line from 1, its column from 0.
    private struct Position {
        var offset: Int
        var line = 1
        var column = 0

        func isBefore(_ line: Int, _ column: Int) -> Bool { (self.line, self.column) < (line, column) }
    }

    /// Distance between indexed positions in bytes.
    private static let step = 4096

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func excerpt(ofLine line: Int, _ columns: Range<Int>) -> SourceTexts.Excerpt? {
        var position = mark(before: line, columns.lowerBound)
        while position.isBefore(line, columns.lowerBound), position.offset < bytes.count {
            let next = after(position)
            // The line is shorter than the start of the range.
            if position.line == line, next.line > line { break }
            position = next
        }
        guard position.line == line else { return nil }
        let first = position.column
        let start = position.offset
        while position.offset < bytes.count, position.column < columns.upperBound {
            let next = after(position)
            if next.line > line { break }
            position = next
        }
        WorkCount.add(position.offset - start)
        let part = String(decoding: bytes[start..<position.offset], as: UTF8.self)
        let isAtEnd = position.offset == bytes.count || after(position).line > line
        return SourceTexts.Excerpt(
            characters: part.unicodeScalars.map(Character.init), first: first, isCut: !isAtEnd)
    }

    /// Returns the last indexed position at or before a line and column.
    private func mark(before line: Int, _ column: Int) -> Position {
        marks.withLock { marks in
            if marks.isEmpty { marks = allMarks() }
            var (low, high) = (0, marks.count)
            while high - low > 1 {
                let middle = (low + high) / 2
                if marks[middle].isBefore(line, column + 1) { low = middle } else { high = middle }
            }
            return marks[low]
        }
    }

    private func allMarks() -> [Position] {
        var position = Position(offset: bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0)
        var marks = [position]
        WorkCount.add(bytes.count)
        while position.offset < bytes.count {
            position = after(position)
            if position.offset - (marks.last?.offset ?? 0) >= Self.step { marks.append(position) }
        }
        return marks
    }

    /// Returns the position after the code point or line break at a position.
    private func after(_ position: Position) -> Position {
        let index = position.offset
        func at(_ offset: Int) -> UInt8 { offset < bytes.count ? bytes[offset] : 0 }
        var next = index
        switch bytes[index] {
        case 0x0a: next = index + 1
        case 0x0d: next = index + (at(index + 1) == 0x0a ? 2 : 1)
        case 0xc2 where at(index + 1) == 0x85: next = index + 2
        case 0xe2 where at(index + 1) == 0x80 && at(index + 2) & 0xfe == 0xa8: next = index + 3
        default:
            next = index + 1
            while next < bytes.count, bytes[next] & 0xc0 == 0x80 { next += 1 }
            return Position(offset: next, line: position.line, column: position.column + 1)
        }
        return Position(offset: next, line: position.line + 1, column: 0)
    }
}
