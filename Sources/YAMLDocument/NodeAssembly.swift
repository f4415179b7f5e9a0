internal import Diagnostics

/// The assembly of nodes from events with an explicit stack, so that untrusted input can't cause deep recursion.
///
/// The type is a struct, since exclusivity checks of a class's properties took a tenth of the reading time.
struct NodeAssembly: ~Copyable {
    private let source: SourceFile
    private let limits: YAMLLimits
    /// Problems found so far.
    private(set) var sink = DiagnosticSink()
    /// Root of the document; nil until it has been read.
    private(set) var root: YAMLNode?
    /// Whether an error occurred that prevents reading the rest of the document.
    private(set) var hasStopped = false
    private var documents = 0
    private var stack: [OpenCollection] = []
    /// Items of the open sequences; those of the innermost sequence are on top.
    private var items = MoveStack<YAMLNode>()
    private var entries = MoveStack<YAMLNode.Entry>()
    private var anchors: [String: YAMLNode] = [:]
    private var expanded = 0
    /// Scalars that contain `${`, in document order with duplicates. Aliases add none.
    private(set) var substituted: [String] = []

    /// A collection that is being read.
    private struct OpenCollection {
        let isMapping: Bool
        let start: YAMLEvent.Mark
        let anchor: String?
        /// Index of the collection's first item in `items` or first entry in `entries`.
        let first: Int
        /// Kind of node that is expected next in a mapping.
        var next = Expectation.key
        /// Key whose value is expected next.
        var key = ""
        var keyRange: SourceRange?
        var merges: [YAMLNode] = []
        /// Keys of a mapping with more than `maxLinearKeys` keys.
        var keys: [String: SourceRange] = [:]

        init(isMapping: Bool, start: YAMLEvent.Mark, anchor: String?, first: Int) {
            self.isMapping = isMapping
            self.start = start
            self.anchor = anchor
            self.first = first
        }

        enum Expectation {
            case key
            case value
            /// The value of `<<`.
            case merge
            /// The value of an invalid key, which is read and dropped.
            case nothing
        }
    }

    /// Maximum number of keys for a linear search; larger mappings use a table.
    private static let maxLinearKeys = 16

    init(source: SourceFile, limits: YAMLLimits) {
        self.source = source
        self.limits = limits
    }

    /// Processes the next batch of events. Ignored after an error that stopped reading.
    mutating func take(_ batch: YAMLEventBatch) {
        guard !hasStopped else { return }
        WorkCount.add(batch.events.count)
        for event in batch.events where !take(event, of: batch) {
            hasStopped = true
            root = nil
            return
        }
    }

    /// Processes an event. Returns false if reading can't continue.
    private mutating func take(_ event: YAMLEvent, of batch: YAMLEventBatch) -> Bool {
        switch event.kind {
        case .documentStart:
            documents += 1
            guard documents == 1 else {
                sink.error(
                    .yamlSyntax, "a job file must be a single YAML document; a second one starts here",
                    at: range(event))
                return false
            }
        case .scalar where isKey(event):
            key(event, of: batch)
        case .scalar, .alias:
            guard let node = leaf(event, of: batch) else { return false }
            attach(node)
        case .sequenceStart, .mappingStart:
            return open(event, of: batch)
        case .end:
            guard let node = close(event) else { return false }
            attach(node)
        }
        return true
    }

    private func range(_ event: YAMLEvent) -> SourceRange { range(event.start, event.end) }

    private func range(_ start: YAMLEvent.Mark, _ end: YAMLEvent.Mark) -> SourceRange {
        SourceRange(source, from: start, to: end)
    }

    private mutating func leaf(_ event: YAMLEvent, of batch: YAMLEventBatch) -> YAMLNode? {
        let location = range(event)
        if event.kind == .alias {
            let name = batch.text(event.anchor)
            guard let node = anchors[name] else {
                sink.error(.yamlSyntax, "the anchor `\(name)` is not defined before its use", at: location)
                return nil
            }
            expanded += Int(node.size)
            WorkCount.add(Int(node.size))
            guard expanded <= limits.aliasedNodes else {
                sink.error(
                    .yamlLimit, "aliases expand to more than \(limits.aliasedNodes) nodes", at: location)
                return nil
            }
            return node.addingStep(through: .alias, "inserted here by the alias `*\(name)`", at: location)
        }
        guard event.text.count <= limits.scalarSize else {
            sink.error(
                .yamlLimit,
                "the value has \(event.text.count) bytes; at most \(limits.scalarSize) are allowed",
                at: location
            )
            return nil
        }
        guard checkTag(event, of: batch) else { return nil }
        let node = YAMLNode(
            .scalar(batch.text(event.text), event.style), at: location,
            isFinal: !batch.has(0x24, in: event.text))
        if node.hasSubstitution, let text = node.text { substituted.append(text) }
        if event.hasAnchor { anchors[batch.text(event.anchor)] = node }
        return node
    }

    private mutating func open(_ event: YAMLEvent, of batch: YAMLEventBatch) -> Bool {
        guard stack.count < limits.depth else {
            sink.error(
                .yamlLimit, "the document has more than \(limits.depth) levels of nesting", at: range(event))
            return false
        }
        guard checkTag(event, of: batch) else { return false }
        let isMapping = event.kind == .mappingStart
        stack.append(
            OpenCollection(
                isMapping: isMapping, start: event.start,
                anchor: event.hasAnchor ? batch.text(event.anchor) : nil,
                first: isMapping ? entries.count : items.count))
        return true
    }

    private mutating func close(_ event: YAMLEvent) -> YAMLNode? {
        guard let last = stack.last else { return nil }
        if !last.merges.isEmpty { merge(last.merges) }
        stack.removeLast()
        let node = YAMLNode(
            last.isMapping
                ? .mapping(entries.take(from: last.first)) : .sequence(items.take(from: last.first)),
            at: range(last.start, event.end))
        if let anchor = last.anchor { anchors[anchor] = node }
        return node
    }

    /// Applies merge keys (`<<`). Explicit keys take precedence over merged ones, and earlier merges over later ones.
    private mutating func merge(_ sources: [YAMLNode]) {
        for source in sources {
            let mappings: [YAMLNode]
            if case .sequence(let items) = source.content { mappings = items } else { mappings = [source] }
            for mapping in mappings {
                guard case .mapping(let merged) = mapping.content else {
                    sink.error(
                        .wrongType, "`<<` requires a mapping or a list of mappings, not \(mapping.kind)",
                        at: mapping.range)
                    continue
                }
                for entry in merged where keyRange(of: entry.key) == nil { add(entry) }
            }
        }
    }

    /// Returns the location of a key in the innermost mapping; nil if the mapping doesn't contain it.
    private func keyRange(of key: String) -> SourceRange? {
        let last = stack.count - 1
        let first = stack[last].first
        if entries.count - first > Self.maxLinearKeys { return stack[last].keys[key] }
        return entries.index(from: first) { $0.key == key }.map { entries[$0].keyRange }
    }

    /// Adds an entry to the innermost mapping, which must not contain its key.
    private mutating func add(_ entry: YAMLNode.Entry) {
        let last = stack.count - 1
        let before = entries.count - stack[last].first
        if before == Self.maxLinearKeys {
            for index in stack[last].first..<entries.count {
                stack[last].keys[entries[index].key] = entries[index].keyRange
            }
        }
        if before >= Self.maxLinearKeys { stack[last].keys[entry.key] = entry.keyRange }
        entries.push(entry)
    }

    /// Adds a finished node to the innermost collection, or sets the root.
    private mutating func attach(_ node: YAMLNode) {
        let last = stack.count - 1
        guard last >= 0 else {
            root = node
            return
        }
        guard stack[last].isMapping else {
            items.push(node)
            return
        }
        switch stack[last].next {
        case .value:
            if let range = stack[last].keyRange {
                add(YAMLNode.Entry(key: stack[last].key, keyRange: range, value: node))
            }
        case .merge: stack[last].merges.append(node)
        case .nothing: break
        case .key:
            guard let text = node.text else {
                sink.error(.wrongType, "a key must be a single value, not \(node.kind)", at: node.range)
                stack[last].next = .nothing
                return
            }
            return expectValue(of: text, at: node.range)
        }
        stack[last].next = .key
    }

    /// Returns whether an event is a mapping key without anchor and tag, for which no node is created.
    private func isKey(_ event: YAMLEvent) -> Bool {
        let last = stack.count - 1
        guard last >= 0, stack[last].isMapping, stack[last].next == .key else { return false }
        return !event.hasAnchor && event.tag.isEmpty && event.text.count <= limits.scalarSize
    }

    private mutating func key(_ event: YAMLEvent, of batch: YAMLEventBatch) {
        expectValue(of: batch.text(event.text), at: range(event))
    }

    private mutating func expectValue(of key: String, at location: SourceRange) {
        let last = stack.count - 1
        if key == "<<" {
            stack[last].next = .merge
        } else if let first = self.keyRange(of: key) {
            sink.error(
                .duplicateKey, "duplicate key `\(key)`", at: location,
                notes: [Diagnostic.Note("the first one is here", at: first)])
            stack[last].next = .nothing
        } else {
            stack[last].key = key
            stack[last].keyRange = location
            stack[last].next = .value
        }
    }

    private static let knownTags: Set<String> = Set(
        ["str", "int", "float", "bool", "null", "map", "seq"].map { "tag:yaml.org,2002:" + $0 } + ["!"])

    private mutating func checkTag(_ event: YAMLEvent, of batch: YAMLEventBatch) -> Bool {
        if event.tag.isEmpty { return true }
        let name = batch.text(event.tag)
        if Self.knownTags.contains(name) { return true }
        sink.error(.yamlSyntax, "the tag `\(name)` is not supported in a job file", at: range(event))
        return false
    }
}
