internal import ExactStrings
internal import Locking

/// The texts of the files that messages point into, for excerpts. Lines are looked for when a message wants one.
package struct SourceTexts: Sendable {
    private var texts: [ExactString: IndexedText] = [:]

    /// Without any.
    package init() {}

    /// With one text.
    package init(_ file: String, _ text: String) { texts[file.exact] = IndexedText(Array(text.utf8)) }

    /// Adds a file's bytes under the name that messages use.
    package mutating func add(_ bytes: [UInt8], of file: String) { texts[file.exact] = IndexedText(bytes) }

    /// All of another's too.
    package mutating func add(_ other: SourceTexts) { texts.merge(other.texts) { $1 } }

    /// Every file's name and bytes, by name.
    package var all: [(file: String, bytes: [UInt8])] {
        texts.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.bytes) }
    }

    /// A part of a line.
    struct Excerpt {
        /// Its code points, from the column `first` on, counted from 0.
        var characters: [Character]
        var first: Int
        /// The line goes on behind it.
        var isCut: Bool
    }

    /// The code points of a line, counted from 1, between some columns, counted from 0; nil where there is no such line.
    ///
    /// A line ends as YAML says: LF, CR, CRLF, and the three of Unicode.
    func excerpt(ofLine line: Int, _ columns: Range<Int>, of file: String) -> Excerpt? {
        guard let text = texts[file.exact], line >= 1 else { return nil }
        return text.excerpt(ofLine: line, columns)
    }
}

/// A text whose lines and columns are found without reading it from its beginning each time.
private final class IndexedText: Sendable {
    let bytes: [UInt8]
    private let marks = Guarded<[Position]>([])

    /// A code point: the byte where it begins, its line from 1, its column from 0.
    private struct Position {
        var offset: Int
        var line = 1
        var column = 0

        func isBefore(_ line: Int, _ column: Int) -> Bool { (self.line, self.column) < (line, column) }
    }

    /// Bytes between two positions that are noted.
    private static let step = 4096

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func excerpt(ofLine line: Int, _ columns: Range<Int>) -> SourceTexts.Excerpt? {
        var position = mark(before: line, columns.lowerBound)
        while position.isBefore(line, columns.lowerBound), position.offset < bytes.count {
            let next = after(position)
            // The line is shorter.
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

    /// The last noted position that is not behind a place.
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

    /// The next code point, or the beginning of the next line.
    private func after(_ position: Position) -> Position {
        let index = position.offset
        func at(_ place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }
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
