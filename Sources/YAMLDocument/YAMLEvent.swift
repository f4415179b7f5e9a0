internal import CLibYAML
internal import Diagnostics
internal import Glibc

/// A libyaml event in a compact format. Its texts are ranges of the batch's bytes.
struct YAMLEvent: Sendable {
    enum Kind: Sendable {
        case documentStart
        case scalar
        case alias
        case sequenceStart
        case mappingStart
        /// The end of a list or a mapping.
        case end
    }

    /// A position in the file; line and column are counted from 0.
    struct Mark: Sendable {
        var line: Int32 = 0
        var column: Int32 = 0

        init() {}
        init(_ mark: yaml_mark_t) {
            line = Int32(truncatingIfNeeded: mark.line)
            column = Int32(truncatingIfNeeded: mark.column)
        }
    }

    var kind: Kind
    var style = YAMLNode.ScalarStyle.plain
    var hasAnchor = false
    var start: Mark
    var end: Mark
    /// Byte range of a scalar's text in the batch.
    var text: Range<Int32> = 0..<0
    /// Byte range of the name of an anchor or alias.
    var anchor: Range<Int32> = 0..<0
    /// Byte range of the tag; empty if there is none.
    var tag: Range<Int32> = 0..<0
}

extension SourceRange {
    /// Creates a range from two libyaml marks, which count from 0.
    init(_ source: SourceFile, from start: YAMLEvent.Mark, to end: YAMLEvent.Mark) {
        self.init(
            source: source, line: Int(start.line) + 1, column: Int(start.column) + 1,
            endLine: Int(end.line) + 1, endColumn: Int(end.column) + 1)
    }
}

/// A sequence of events with their texts. The type is a struct, since accesses to a class would be checked for
/// exclusivity.
struct YAMLEventBatch: Sendable {
    /// Maximum number of events, large enough to make the transfer to another thread worthwhile.
    static let capacity = 1024

    private(set) var events: [YAMLEvent] = []
    private var bytes: [UInt8] = []

    init() {
        events.reserveCapacity(Self.capacity)
        bytes.reserveCapacity(Self.capacity * 8)
    }

    /// Whether the batch has its maximum number of events, or 1 MiB of text.
    var isFull: Bool { events.count >= Self.capacity || bytes.count >= 1 << 20 }

    /// Adds an event. Events that don't affect nodes, such as the end of the stream, are omitted.
    mutating func add(_ event: yaml_event_t) {
        var added = YAMLEvent(
            kind: .end, start: YAMLEvent.Mark(event.start_mark), end: YAMLEvent.Mark(event.end_mark))
        switch event.type {
        case YAML_DOCUMENT_START_EVENT: added.kind = .documentStart
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: break
        case YAML_ALIAS_EVENT:
            added.kind = .alias
            added.anchor = copy(event.data.alias.anchor)
        case YAML_SEQUENCE_START_EVENT:
            added.kind = .sequenceStart
            added.hasAnchor = event.data.sequence_start.anchor != nil
            added.anchor = copy(event.data.sequence_start.anchor)
            added.tag = copy(event.data.sequence_start.tag)
        case YAML_MAPPING_START_EVENT:
            added.kind = .mappingStart
            added.hasAnchor = event.data.mapping_start.anchor != nil
            added.anchor = copy(event.data.mapping_start.anchor)
            added.tag = copy(event.data.mapping_start.tag)
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            added.kind = .scalar
            switch scalar.style {
            case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: added.style = .quoted
            case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: added.style = .block
            default: break
            }
            added.hasAnchor = scalar.anchor != nil
            added.anchor = copy(scalar.anchor)
            added.tag = copy(scalar.tag)
            added.text = copy(scalar.value, scalar.length)
        default: return
        }
        events.append(added)
    }

    /// Returns the text of a byte range.
    func text(_ range: Range<Int32>) -> String {
        bytes.withUnsafeBufferPointer {
            String(decoding: $0[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self)
        }
    }

    /// Returns whether the text of a byte range contains a byte.
    func has(_ byte: UInt8, in range: Range<Int32>) -> Bool {
        bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress, !range.isEmpty else { return false }
            return memchr(base + Int(range.lowerBound), Int32(byte), range.count) != nil
        }
    }

    private mutating func copy(_ text: UnsafeMutablePointer<yaml_char_t>?) -> Range<Int32> {
        guard let text else { return 0..<0 }
        return copy(text, strlen(UnsafeRawPointer(text).assumingMemoryBound(to: CChar.self)))
    }

    private mutating func copy(_ text: UnsafeMutablePointer<yaml_char_t>?, _ length: Int) -> Range<Int32> {
        guard let text else { return 0..<0 }
        let start = bytes.count
        bytes.append(contentsOf: UnsafeBufferPointer(start: text, count: length))
        return Int32(start)..<Int32(bytes.count)
    }
}
