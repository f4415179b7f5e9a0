/// A range of a text file, for messages. Lines and columns are counted from 1; columns are code points.
public struct SourceRange: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Interned name of the file.
    public var source: SourceFile
    private var first: Position
    private var last: Position
    /// Context in which the text is read; ignored by `==` and `hash(into:)`.
    public var context: SourceContext?

    private struct Position: Hashable, Sendable {
        var line: Int32
        var column: Int32
    }

    /// Creates a range in the file with a name.
    package init(file: String, line: Int, column: Int, endLine: Int, endColumn: Int) {
        self.init(
            source: SourceFile(file), line: line, column: column, endLine: endLine, endColumn: endColumn)
    }

    /// Creates a range in a file whose name is already interned.
    package init(source: SourceFile, line: Int, column: Int, endLine: Int, endColumn: Int) {
        self.source = source
        first = Position(line: Int32(clamping: line), column: Int32(clamping: column))
        last = Position(line: Int32(clamping: endLine), column: Int32(clamping: endColumn))
    }

    /// Name of the file as the user wrote it.
    public var file: String { source.name }
    /// First line, from 1; 0 for a command-line argument.
    public var line: Int { Int(first.line) }
    /// Column of the first character, from 1.
    public var column: Int { Int(first.column) }
    /// Line of the last character.
    public var endLine: Int {
        get { Int(last.line) }
        set { last.line = Int32(clamping: newValue) }
    }
    /// Column after the last character.
    public var endColumn: Int {
        get { Int(last.column) }
        set { last.column = Int32(clamping: newValue) }
    }

    /// Returns an empty range at the beginning of a file, for problems of the file as a whole.
    package static func startOfFile(_ file: String) -> SourceRange {
        SourceRange(file: file, line: 1, column: 1, endLine: 1, endColumn: 1)
    }

    /// Returns the range of a command-line argument, which has a name and no lines.
    package static func argument(_ name: String) -> SourceRange {
        SourceRange(file: name, line: 0, column: 0, endLine: 0, endColumn: 0)
    }

    /// Whether the range is a command-line argument.
    public var isArgument: Bool { line == 0 }

    /// Whether the range is in `defaults`.
    package var isDefault: Bool { context?.contains(.defaults) == true }

    /// Returns the same range in another context.
    package func with(context: SourceContext?) -> SourceRange {
        var copy = self
        copy.context = context
        return copy
    }

    /// Returns whether another range is within this one, in the same file.
    public func contains(_ other: SourceRange) -> Bool {
        source == other.source && (line, column) <= (other.line, other.column)
            && (other.endLine, other.endColumn) <= (endLine, endColumn)
    }

    /// Returns whether file, lines and columns are equal; contexts are ignored.
    public static func == (a: SourceRange, b: SourceRange) -> Bool {
        a.source == b.source && a.first == b.first && a.last == b.last
    }

    /// Hashes file, lines and columns.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(source)
        hasher.combine(first)
        hasher.combine(last)
    }

    /// Orders by file name, then by position.
    public static func < (a: SourceRange, b: SourceRange) -> Bool {
        if a.source != b.source { return a.file < b.file }
        return (a.first.line, a.first.column, a.last.line, a.last.column)
            < (b.first.line, b.first.column, b.last.line, b.last.column)
    }

    /// The location as `file:line:column`; only the name for a command-line argument.
    public var description: String { isArgument ? file : "\(file):\(line):\(column)" }
}

extension CodingUserInfoKey {
    /// The key that omits source ranges and plan annotations from an encoding, for digests and comparisons of plans.
    package static let omitsAnnotations = CodingUserInfoKey(rawValue: "tandem.omitsAnnotations")!
}

extension SourceRange: Codable {
    private enum CodingKeys: CodingKey { case file, line, column, endLine, endColumn }

    /// Decodes file, lines and columns.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            file: try values.decode(String.self, forKey: .file),
            line: try values.decode(Int.self, forKey: .line),
            column: try values.decode(Int.self, forKey: .column),
            endLine: try values.decode(Int.self, forKey: .endLine),
            endColumn: try values.decode(Int.self, forKey: .endColumn))
    }

    /// Encodes file, lines and columns without the context; nil with `omitsAnnotations`.
    public func encode(to encoder: any Encoder) throws {
        if encoder.userInfo[.omitsAnnotations] != nil {
            var value = encoder.singleValueContainer()
            return try value.encodeNil()
        }
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(file, forKey: .file)
        try values.encode(line, forKey: .line)
        try values.encode(column, forKey: .column)
        try values.encode(endLine, forKey: .endLine)
        try values.encode(endColumn, forKey: .endColumn)
    }
}
