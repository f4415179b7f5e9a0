internal import CLibYAML
public import Diagnostics
internal import Glibc

/// Turns libyaml's events into nodes, with an explicit stack: nothing recurses on input.
public struct YAMLParser {
    private let file: String
    private let source: SourceFile
    private let limits: YAMLLimits
    private var stack: [Open] = []
    /// Collections that were read, whose storage serves the next.
    private var spare: [Open] = []
    private var anchors: [String: YAMLNode] = [:]
    private var expanded = 0

    /// A collection that is being read.
    private final class Open {
        private(set) var isMapping = false
        private(set) var start = yaml_mark_t()
        private(set) var anchor: String?
        var items: [YAMLNode] = []
        var entries: [YAMLNode.Entry] = []
        var merges: [YAMLNode] = []
        /// Keys of a mapping too large to look through.
        var keys: [String: SourceRange] = [:]
        /// An entry that is there already, looked for among few or by the table.
        func place(of key: String) -> SourceRange? {
            if entries.count > 16 { return keys[key] }
            for index in entries.indices where entries[index].key == key { return entries[index].keyRange }
            return nil
        }
        /// Adds an entry, whose key is known to be new.
        func add(_ entry: YAMLNode.Entry) {
            entries.append(entry)
            if entries.count == 17 {
                for entry in entries { keys[entry.key] = entry.keyRange }
            } else if entries.count > 17 {
                keys[entry.key] = entry.keyRange
            }
        }
        /// What comes next in a mapping.
        enum Expectation {
            case key
            case value
            /// The value of `<<`.
            case merge
            /// The value of a key that can't be one: read and dropped.
            case nothing
        }
        var next = Expectation.key
        /// The key whose value comes next.
        var key = ""
        var keyRange: SourceRange?

        func begin(isMapping: Bool, start: yaml_mark_t, anchor: String?) {
            self.isMapping = isMapping
            self.start = start
            self.anchor = anchor
            items.removeAll(keepingCapacity: true)
            entries.removeAll(keepingCapacity: true)
            if !merges.isEmpty { merges = [] }
            if !keys.isEmpty { keys = [:] }
            next = .key
        }

        /// What was read, in storage of its own size.
        var content: YAMLNode.Content {
            isMapping
                ? .mapping(entries.withUnsafeBufferPointer { Array($0) })
                : .sequence(items.withUnsafeBufferPointer { Array($0) })
        }
    }

    private init(file: String, limits: YAMLLimits) {
        self.file = file
        source = SourceFile(file)
        self.limits = limits
    }

    /// Parses one document. Nil where there is none that can be read; problems are in the sink.
    public static func parse(
        _ bytes: [UInt8], file: String, limits: YAMLLimits = YAMLLimits(), into sink: inout DiagnosticSink
    ) -> YAMLNode? {
        guard bytes.count <= limits.fileSize else {
            sink.error(
                .yamlLimit, "the file has \(bytes.count) bytes, more than the limit of \(limits.fileSize)",
                at: .startOfFile(file))
            return nil
        }
        var parser = YAMLParser(file: file, limits: limits)
        return parser.run(bytes, into: &sink)
    }

    private mutating func run(_ bytes: [UInt8], into sink: inout DiagnosticSink) -> YAMLNode? {
        var parser = yaml_parser_t()
        guard yaml_parser_initialize(&parser) == 1 else {
            sink.error(.yamlSyntax, "out of memory", at: .startOfFile(file))
            return nil
        }
        defer { yaml_parser_delete(&parser) }
        return bytes.withUnsafeBufferPointer { buffer in
            yaml_parser_set_input_string(&parser, buffer.baseAddress, buffer.count)
            return events(&parser, bytes: bytes, into: &sink)
        }
    }

    private mutating func events(
        _ parser: inout yaml_parser_t, bytes: [UInt8], into sink: inout DiagnosticSink
    ) -> YAMLNode? {
        var root: YAMLNode?
        var documents = 0
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(&parser, &event) == 1 else {
                reportSyntax(parser, bytes: bytes, into: &sink)
                return nil
            }
            defer { yaml_event_delete(&event) }
            switch event.type {
            case YAML_STREAM_END_EVENT: return root
            case YAML_DOCUMENT_START_EVENT:
                documents += 1
                if documents > 1 {
                    sink.error(
                        .yamlSyntax, "a job file is one document; a second one begins here",
                        at: range(event.start_mark, event.end_mark))
                    return nil
                }
            case YAML_SCALAR_EVENT where isKey(event.data.scalar):
                key(event, into: &sink)
            case YAML_SCALAR_EVENT, YAML_ALIAS_EVENT:
                guard let node = leaf(event, into: &sink) else { return nil }
                if !place(node, root: &root, into: &sink) { return nil }
            case YAML_SEQUENCE_START_EVENT, YAML_MAPPING_START_EVENT:
                if !open(event, into: &sink) { return nil }
            case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
                guard let node = close(event, into: &sink) else { return nil }
                if !place(node, root: &root, into: &sink) { return nil }
            default: break
            }
        }
    }

    private func range(_ start: yaml_mark_t, _ end: yaml_mark_t) -> SourceRange {
        SourceRange(
            source: source, line: Int(start.line) + 1, column: Int(start.column) + 1,
            endLine: Int(end.line) + 1,
            endColumn: Int(end.column) + 1)
    }

    // MARK: Events to nodes

    private mutating func leaf(_ event: yaml_event_t, into sink: inout DiagnosticSink) -> YAMLNode? {
        let place = range(event.start_mark, event.end_mark)
        if event.type == YAML_ALIAS_EVENT {
            let name = event.data.alias.anchor.map { Self.string($0) } ?? ""
            guard let node = anchors[name] else {
                sink.error(.yamlSyntax, "the anchor `\(name)` is not defined before its use", at: place)
                return nil
            }
            expanded += Int(node.size)
            guard expanded <= limits.aliasedNodes else {
                sink.error(
                    .yamlLimit, "aliases expand to more than \(limits.aliasedNodes) nodes", at: place)
                return nil
            }
            return node.reached(through: .alias, "the alias `*\(name)` brings it here", at: place)
        }
        let scalar = event.data.scalar
        guard scalar.length <= limits.scalarSize else {
            sink.error(
                .yamlLimit, "a value of \(scalar.length) bytes, more than the limit of \(limits.scalarSize)",
                at: place)
            return nil
        }
        guard checkTag(scalar.tag, at: place, into: &sink) else { return nil }
        let style: YAMLNode.ScalarStyle
        switch scalar.style {
        case YAML_SINGLE_QUOTED_SCALAR_STYLE, YAML_DOUBLE_QUOTED_SCALAR_STYLE: style = .quoted
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: style = .block
        default: style = .plain
        }
        let node = YAMLNode(
            .scalar(Self.text(of: scalar), style), at: place,
            isFinal: memchr(scalar.value, 0x24, scalar.length) == nil)
        if let anchor = scalar.anchor { anchors[Self.string(anchor)] = node }
        return node
    }

    private mutating func open(_ event: yaml_event_t, into sink: inout DiagnosticSink) -> Bool {
        let isMapping = event.type == YAML_MAPPING_START_EVENT
        let place = range(event.start_mark, event.end_mark)
        guard stack.count < limits.depth else {
            sink.error(.yamlLimit, "more than \(limits.depth) levels of nesting", at: place)
            return false
        }
        let tag = isMapping ? event.data.mapping_start.tag : event.data.sequence_start.tag
        guard checkTag(tag, at: place, into: &sink) else { return false }
        let anchor = isMapping ? event.data.mapping_start.anchor : event.data.sequence_start.anchor
        let top = spare.popLast() ?? Open()
        top.begin(isMapping: isMapping, start: event.start_mark, anchor: anchor.map { Self.string($0) })
        stack.append(top)
        return true
    }

    private mutating func close(_ event: yaml_event_t, into sink: inout DiagnosticSink) -> YAMLNode? {
        guard let top = stack.popLast() else { return nil }
        let place = range(top.start, event.end_mark)
        if !top.merges.isEmpty { merge(into: top, sink: &sink) }
        let node = YAMLNode(top.content, at: place)
        spare.append(top)
        if let anchor = top.anchor { anchors[anchor] = node }
        return node
    }

    /// Merge keys (`<<`): what is written wins, then earlier merges.
    private func merge(into top: Open, sink: inout DiagnosticSink) {
        for source in top.merges {
            let mappings: [YAMLNode]
            if case .sequence(let items) = source.content { mappings = items } else { mappings = [source] }
            for mapping in mappings {
                guard case .mapping(let entries) = mapping.content else {
                    sink.error(
                        .wrongType, "`<<` merges a mapping or a list of mappings, not \(mapping.kind)",
                        at: mapping.range)
                    continue
                }
                for entry in entries where top.place(of: entry.key) == nil { top.add(entry) }
            }
        }
    }

    /// Puts a finished node where it belongs. False when parsing can't go on.
    private mutating func place(_ node: YAMLNode, root: inout YAMLNode?, into sink: inout DiagnosticSink)
        -> Bool
    {
        guard let top = stack.last else {
            root = node
            return true
        }
        guard top.isMapping else {
            top.items.append(node)
            return true
        }
        switch top.next {
        case .value:
            if let range = top.keyRange {
                top.add(YAMLNode.Entry(key: top.key, keyRange: range, value: node))
            }
        case .merge: top.merges.append(node)
        case .nothing: break
        case .key:
            guard let text = node.text else {
                sink.error(.wrongType, "a key is a single word, not \(node.kind)", at: node.range)
                top.next = .nothing
                return true
            }
            expectValue(of: text, at: node.range, in: top, into: &sink)
            return true
        }
        top.next = .key
        return true
    }

    /// A key that is no more than its text needs no node.
    private func isKey(_ scalar: yaml_event_s.__Unnamed_union_data.__Unnamed_struct_scalar) -> Bool {
        guard let top = stack.last, top.isMapping, top.next == .key else { return false }
        return scalar.anchor == nil && scalar.tag == nil && scalar.length <= limits.scalarSize
    }

    private func key(_ event: yaml_event_t, into sink: inout DiagnosticSink) {
        guard let top = stack.last else { return }
        expectValue(
            of: Self.text(of: event.data.scalar), at: range(event.start_mark, event.end_mark), in: top,
            into: &sink)
    }

    private func expectValue(
        of key: String, at place: SourceRange, in top: Open, into sink: inout DiagnosticSink
    ) {
        if key == "<<" {
            top.next = .merge
        } else if let first = top.place(of: key) {
            sink.error(
                .duplicateKey, "the key `\(key)` stands twice in one mapping", at: place,
                notes: [Diagnostic.Note("it stands here first", at: first)])
            top.next = .nothing
        } else {
            top.key = key
            top.keyRange = place
            top.next = .value
        }
    }

    private func checkTag(
        _ tag: UnsafeMutablePointer<yaml_char_t>?, at place: SourceRange, into sink: inout DiagnosticSink
    ) -> Bool {
        guard let tag else { return true }
        let name = Self.string(tag)
        let known =
            ["str", "int", "float", "bool", "null", "map", "seq"].map { "tag:yaml.org,2002:" + $0 } + ["!"]
        if known.contains(name) { return true }
        sink.error(.yamlSyntax, "the tag `\(name)` has no meaning in a job file", at: place)
        return false
    }

    private static func text(of scalar: yaml_event_s.__Unnamed_union_data.__Unnamed_struct_scalar) -> String {
        String(decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
    }

    private static func string(_ bytes: UnsafeMutablePointer<yaml_char_t>) -> String {
        String(cString: UnsafeRawPointer(bytes).assumingMemoryBound(to: CChar.self))
    }

    // MARK: Syntax errors

    private func reportSyntax(_ parser: yaml_parser_t, bytes: [UInt8], into sink: inout DiagnosticSink) {
        var problem = parser.problem.map { String(cString: $0) } ?? "can't be parsed"
        if parser.context != nil { problem += " (\(String(cString: parser.context)))" }
        var place = range(parser.problem_mark, parser.problem_mark)
        if parser.error == YAML_READER_ERROR {
            place = Self.position(of: Int(parser.problem_offset), in: bytes, file: file)
        }
        place.endColumn += 1
        var help: String?
        let lines = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        if place.line <= lines.count {
            let line = lines[place.line - 1]
            if line.contains("${"), line.contains("{ ") || line.contains("[") || line.contains(": {") {
                help = "inside `{ }` and `[ ]` a value with `${…}` needs quotes: \"${name}\""
            } else if line.contains("\t"), problem.contains("cannot start any token") {
                help = "YAML is indented with spaces, not tabs"
            }
        }
        var notes: [Diagnostic.Note] = []
        if parser.context != nil, parser.context_mark.line != parser.problem_mark.line {
            notes.append(
                Diagnostic.Note("it began here", at: range(parser.context_mark, parser.context_mark)))
        }
        sink.error(.yamlSyntax, problem, at: place, notes: notes, help: help)
    }

    private static func position(of offset: Int, in bytes: [UInt8], file: String) -> SourceRange {
        let before = bytes.prefix(max(0, min(offset, bytes.count)))
        let line = before.reduce(1) { $1 == 0x0a ? $0 + 1 : $0 }
        let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
        let column = before[start...].reduce(1) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
        return SourceRange(file: file, line: line, column: column, endLine: line, endColumn: column)
    }
}
