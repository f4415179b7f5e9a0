/// A stretch of a text file, for messages: lines and columns count from 1, columns in code points.
public struct SourceRange: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
    /// The file as the user named it.
    public var file: String
    /// First line.
    public var line: Int
    /// First column.
    public var column: Int
    /// Last line.
    public var endLine: Int
    /// The column after the last character.
    public var endColumn: Int

    /// Makes a range.
    public init(file: String, line: Int, column: Int, endLine: Int, endColumn: Int) {
        self.file = file
        self.line = line
        self.column = column
        self.endLine = endLine
        self.endColumn = endColumn
    }

    /// The beginning of a file, for problems of the file as a whole.
    public static func startOfFile(_ file: String) -> SourceRange {
        SourceRange(file: file, line: 1, column: 1, endLine: 1, endColumn: 1)
    }

    /// By file, then position.
    public static func < (a: SourceRange, b: SourceRange) -> Bool {
        (a.file, a.line, a.column, a.endLine, a.endColumn) < (
            b.file, b.line, b.column, b.endLine, b.endColumn
        )
    }

    /// As `file:line:column`.
    public var description: String { "\(file):\(line):\(column)" }
}
