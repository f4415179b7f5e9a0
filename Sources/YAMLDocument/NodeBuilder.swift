internal import Diagnostics
internal import Synchronization

/// Turns events into nodes, with an explicit stack: nothing recurses on input.
///
/// Unchecked `Sendable`: touched by one queue at a time, which its parser sees to.
final class NodeBuilder: @unchecked Sendable {
    private let source: SourceFile
    private let limits: YAMLLimits
    /// Batches on their way here.
    let waiting = Atomic<Int>(0)
    /// What was found wrong.
    private(set) var sink = DiagnosticSink()
    /// The document, once it was read.
    private(set) var root: YAMLNode?
    /// Something was wrong that leaves nothing to go on with.
    private(set) var hasStopped = false
    private var documents = 0
    private var stack: [Open] = []
    /// Collections that were read, whose storage serves the next.
    private var spare: [Open] = []
    private var anchors: [String: YAMLNode] = [:]
    private var expanded = 0

    /// A collection that is being read.
    private final class Open {
        private(set) var isMapping = false
        private(set) var start = YAMLEvent.Mark()
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

        func begin(isMapping: Bool, start: YAMLEvent.Mark, anchor: String?) {
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

    init(source: SourceFile, limits: YAMLLimits) {
        self.source = source
        self.limits = limits
    }

    /// Takes the next events.
    func take(_ batch: YAMLEventBatch) {
        guard !hasStopped else { return }
        for event in batch.events where !take(event, of: batch) {
            hasStopped = true
            root = nil
            return
        }
    }

    /// False where reading can't go on.
    private func take(_ event: YAMLEvent, of batch: YAMLEventBatch) -> Bool {
        switch event.kind {
        case .documentStart:
            documents += 1
            guard documents == 1 else {
                sink.error(
                    .yamlSyntax, "a job file is one document; a second one begins here", at: range(event))
                return false
            }
        case .scalar where isKey(event):
            key(event, of: batch)
        case .scalar, .alias:
            guard let node = leaf(event, of: batch) else { return false }
            place(node)
        case .sequenceStart, .mappingStart:
            return open(event, of: batch)
        case .end:
            guard let node = close(event) else { return false }
            place(node)
        }
        return true
    }

    private func range(_ event: YAMLEvent) -> SourceRange { range(event.start, event.end) }

    private func range(_ start: YAMLEvent.Mark, _ end: YAMLEvent.Mark) -> SourceRange {
        SourceRange(source, from: start, to: end)
    }

    private func leaf(_ event: YAMLEvent, of batch: YAMLEventBatch) -> YAMLNode? {
        let place = range(event)
        if event.kind == .alias {
            let name = batch.text(event.anchor)
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
        guard event.text.count <= limits.scalarSize else {
            sink.error(
                .yamlLimit,
                "a value of \(event.text.count) bytes, more than the limit of \(limits.scalarSize)", at: place
            )
            return nil
        }
        guard checkTag(event, of: batch) else { return nil }
        let node = YAMLNode(
            .scalar(batch.text(event.text), event.style), at: place,
            isFinal: !batch.has(0x24, in: event.text))
        if event.hasAnchor { anchors[batch.text(event.anchor)] = node }
        return node
    }

    private func open(_ event: YAMLEvent, of batch: YAMLEventBatch) -> Bool {
        guard stack.count < limits.depth else {
            sink.error(.yamlLimit, "more than \(limits.depth) levels of nesting", at: range(event))
            return false
        }
        guard checkTag(event, of: batch) else { return false }
        let top = spare.popLast() ?? Open()
        top.begin(
            isMapping: event.kind == .mappingStart, start: event.start,
            anchor: event.hasAnchor ? batch.text(event.anchor) : nil)
        stack.append(top)
        return true
    }

    private func close(_ event: YAMLEvent) -> YAMLNode? {
        guard let top = stack.popLast() else { return nil }
        if !top.merges.isEmpty { merge(into: top) }
        let node = YAMLNode(top.content, at: range(top.start, event.end))
        spare.append(top)
        if let anchor = top.anchor { anchors[anchor] = node }
        return node
    }

    /// Merge keys (`<<`): what is written wins, then earlier merges.
    private func merge(into top: Open) {
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

    /// Puts a finished node where it belongs.
    private func place(_ node: YAMLNode) {
        guard let top = stack.last else {
            root = node
            return
        }
        guard top.isMapping else {
            top.items.append(node)
            return
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
                return
            }
            expectValue(of: text, at: node.range, in: top)
            return
        }
        top.next = .key
    }

    /// A key that is no more than its text needs no node.
    private func isKey(_ event: YAMLEvent) -> Bool {
        guard let top = stack.last, top.isMapping, top.next == .key else { return false }
        return !event.hasAnchor && event.tag.isEmpty && event.text.count <= limits.scalarSize
    }

    private func key(_ event: YAMLEvent, of batch: YAMLEventBatch) {
        guard let top = stack.last else { return }
        expectValue(of: batch.text(event.text), at: range(event), in: top)
    }

    private func expectValue(of key: String, at place: SourceRange, in top: Open) {
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

    private static let knownTags: Set<String> = Set(
        ["str", "int", "float", "bool", "null", "map", "seq"].map { "tag:yaml.org,2002:" + $0 } + ["!"])

    private func checkTag(_ event: YAMLEvent, of batch: YAMLEventBatch) -> Bool {
        if event.tag.isEmpty { return true }
        let name = batch.text(event.tag)
        if Self.knownTags.contains(name) { return true }
        sink.error(.yamlSyntax, "the tag `\(name)` has no meaning in a job file", at: range(event))
        return false
    }
}
