internal import CLibYAML
internal import Diagnostics
internal import Glibc

/// What libyaml found, in a form of its own size; its texts are in its batch.
struct YAMLEvent: Sendable {
    enum Kind: Sendable {
        case documentStart
        case scalar
        case alias
        case sequenceStart
        case mappingStart
        /// Of a list or a mapping.
        case end
    }

    /// A place, from 0.
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
    /// A scalar's text, in the batch's bytes.
    var text: Range<Int32> = 0..<0
    /// An anchor's or an alias' name.
    var anchor: Range<Int32> = 0..<0
    /// A tag; empty for none.
    var tag: Range<Int32> = 0..<0
}

extension SourceRange {
    /// Between two of libyaml's marks, which count from 0.
    init(_ source: SourceFile, from start: YAMLEvent.Mark, to end: YAMLEvent.Mark) {
        self.init(
            source: source, line: Int(start.line) + 1, column: Int(start.column) + 1,
            endLine: Int(end.line) + 1, endColumn: Int(end.column) + 1)
    }
}

/// Some events in order, with their texts. A value: a class would have each access to it checked while it runs.
struct YAMLEventBatch: Sendable {
    /// As many as are worth a way to another thread.
    static let capacity = 1024

    private(set) var events: [YAMLEvent] = []
    private var bytes: [UInt8] = []

    init() {
        events.reserveCapacity(Self.capacity)
        bytes.reserveCapacity(Self.capacity * 8)
    }

    /// Texts are few enough to be passed on: a batch is full by either.
    var isFull: Bool { events.count >= Self.capacity || bytes.count >= 1 << 20 }

    /// Takes what there is of an event; those that mean nothing for a document leave nothing.
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

    /// A text of an event.
    func text(_ range: Range<Int32>) -> String {
        bytes.withUnsafeBufferPointer {
            String(decoding: $0[Int(range.lowerBound)..<Int(range.upperBound)], as: UTF8.self)
        }
    }

    /// A byte stands in a text.
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
