internal import Locking

/// A text file with an index of positions, by which lines and columns are found without a scan from the beginning.
///
/// Lines end as in YAML 1.1: at LF, CR, CRLF, and the three line breaks of Unicode. Columns are code points. A file
/// with a UTF-16 byte order mark is decoded from UTF-16, like libyaml does.
package final class SourceText: Sendable {
    /// Bytes of the file.
    package let bytes: [UInt8]
    /// The text in UTF-8.
    private let utf8: [UInt8]
    private let marks = Guarded<[Position]>([])

    /// The position of a code point: its byte offset, its line from 1, its column from 0.
    private struct Position: Sendable {
        var offset: Int
        var line = 1
        var column = 0

        func isBefore(_ line: Int, _ column: Int) -> Bool { (self.line, self.column) < (line, column) }
    }

    /// Distance between indexed positions in bytes.
    private static let step = 4096

    /// Part of a line.
    struct Excerpt {
        /// Code points of the excerpt. `first` is the column of the first one, counted from 0.
        var characters: [Character]
        var first: Int
        /// Whether the line continues after the excerpt.
        var isCut: Bool
    }

    /// Creates a text from the bytes of a file, which may be invalid.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        utf8 = Self.utf8(bytes)
    }

    /// Returns the text of a file in UTF-8: its bytes, or the text decoded from UTF-16.
    private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let high: Int
        if bytes.starts(with: [0xff, 0xfe]) {
            high = 1
        } else if bytes.starts(with: [0xfe, 0xff]) {
            high = 0
        } else {
            return bytes
        }
        let units = (0..<bytes.count / 2).map { index in
            UInt16(bytes[2 * index + high]) << 8 | UInt16(bytes[2 * index + 1 - high])
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    /// Lines of the text, without their ends.
    package var lines: [String] {
        var lines: [String] = []
        var position = firstPosition
        var start = position.offset
        while position.offset < utf8.count {
            let next = after(position)
            if next.line > position.line {
                lines.append(String(decoding: utf8[start..<position.offset], as: UTF8.self))
                start = next.offset
            }
            position = next
        }
        return lines + [String(decoding: utf8[start...], as: UTF8.self)]
    }

    /// Returns line and column, both from 1, of the character at a byte of the file.
    package func location(ofByte offset: Int) -> (line: Int, column: Int) {
        // The part of a text in UTF-16 before the byte is decoded, which results in the byte of the text in UTF-8.
        let end = Self.utf8(Array(bytes.prefix(max(0, offset)))).count
        var position = firstPosition
        while position.offset < min(end, utf8.count) {
            let next = after(position)
            if next.offset > end { break }
            position = next
        }
        return (position.line, position.column + 1)
    }

    /// Returns whether a range is in the text and doesn't end before it begins. libyaml places the end of a file in the
    /// line after the last one, also where the last line has no line end.
    package func contains(_ range: SourceRange) -> Bool {
        guard range.line >= 1, range.column >= 1,
            (range.line, range.column) <= (range.endLine, range.endColumn)
        else { return false }
        let lines = lines + [""]
        return range.endLine <= lines.count
            && range.column <= lines[range.line - 1].unicodeScalars.count + 1
    }

    /// Returns the code points in a range of columns of a line; nil if the line doesn't exist.
    func excerpt(ofLine line: Int, _ columns: Range<Int>) -> Excerpt? {
        guard line >= 1 else { return nil }
        var position = mark(before: line, columns.lowerBound)
        while position.isBefore(line, columns.lowerBound), position.offset < utf8.count {
            let next = after(position)
            // The line is shorter than the start of the range.
            if position.line == line, next.line > line { break }
            position = next
        }
        guard position.line == line else { return nil }
        let first = position.column
        let start = position.offset
        while position.offset < utf8.count, position.column < columns.upperBound {
            let next = after(position)
            if next.line > line { break }
            position = next
        }
        WorkCount.add(position.offset - start)
        let part = String(decoding: utf8[start..<position.offset], as: UTF8.self)
        let isAtEnd = position.offset == utf8.count || after(position).line > line
        return Excerpt(
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

    /// Position of the first character, after a byte order mark.
    private var firstPosition: Position { Position(offset: utf8.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0) }

    private func allMarks() -> [Position] {
        var position = firstPosition
        var marks = [position]
        WorkCount.add(utf8.count)
        while position.offset < utf8.count {
            position = after(position)
            if position.offset - (marks.last?.offset ?? 0) >= Self.step { marks.append(position) }
        }
        return marks
    }

    /// Returns the position after the code point or line break at a position.
    private func after(_ position: Position) -> Position {
        let index = position.offset
        func at(_ offset: Int) -> UInt8 { offset < utf8.count ? utf8[offset] : 0 }
        var next = index
        switch utf8[index] {
        case 0x0a: next = index + 1
        case 0x0d: next = index + (at(index + 1) == 0x0a ? 2 : 1)
        case 0xc2 where at(index + 1) == 0x85: next = index + 2
        case 0xe2 where at(index + 1) == 0x80 && at(index + 2) & 0xfe == 0xa8: next = index + 3
        default:
            next = index + 1
            while next < utf8.count, utf8[next] & 0xc0 == 0x80 { next += 1 }
            return Position(offset: next, line: position.line, column: position.column + 1)
        }
        return Position(offset: next, line: position.line + 1, column: 0)
    }
}
