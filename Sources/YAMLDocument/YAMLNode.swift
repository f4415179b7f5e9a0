package import Diagnostics

/// A node of a YAML document with its exact source range. Immutable; a class, since hundreds of thousands of nodes
/// are passed around.
package final class YAMLNode: Sendable {
    /// The style of a scalar.
    package enum ScalarStyle: Sendable {
        /// Without quotes.
        case plain
        /// In single or double quotes.
        case quoted
        /// As a block (`|`, `>`).
        case block
    }

    /// One entry of a mapping.
    package struct Entry: Sendable {
        /// Text of the key.
        package let key: String
        /// Source range of the key.
        package let keyRange: SourceRange
        /// Node of the value.
        package let value: YAMLNode

        /// Creates an entry.
        package init(key: String, keyRange: SourceRange, value: YAMLNode) {
            self.key = key
            self.keyRange = keyRange
            self.value = value
        }
    }

    /// The content of a node.
    package enum Content: Sendable {
        /// Text, which the reader of the node interprets.
        case scalar(String, ScalarStyle)
        /// A list.
        case sequence([YAMLNode])
        /// Entries in order, with merge keys resolved and without duplicate keys.
        case mapping([Entry])
    }

    /// Content of the node.
    package let content: Content
    /// Source range of the node. For an alias, the range of its anchor's node, with the alias as context.
    package let range: SourceRange
    /// Whether a scalar in the node contains `${`, so that other nodes need not be searched.
    package let hasSubstitution: Bool
    /// Whether the text is determined later: the current text is only a template.
    package let isDeferred: Bool
    /// Number of nodes in this one, including itself, with aliases expanded.
    package let size: Int32

    /// Creates a node from scalars and existing nodes. `isFinal`: whether `${` in the text is literal.
    package init(_ content: Content, at range: SourceRange, isFinal: Bool = false, isDeferred: Bool = false) {
        self.content = content
        self.range = range
        self.isDeferred = isDeferred
        var hasSubstitution = false
        var size: Int32 = 1
        switch content {
        case .scalar(let text, _):
            hasSubstitution = !isFinal && text.utf8.contains(0x24) && text.contains("${")
        case .sequence(let items):
            for item in items {
                hasSubstitution = hasSubstitution || item.hasSubstitution
                size &+= item.size
            }
        case .mapping(let entries):
            for entry in entries {
                hasSubstitution = hasSubstitution || entry.value.hasSubstitution
                size &+= entry.value.size
            }
        }
        self.hasSubstitution = hasSubstitution && !isFinal
        self.size = size
    }

    /// Creates a node with the same content, or with as many substitutions, at another location.
    private init(_ content: Content, at range: SourceRange, as other: YAMLNode) {
        self.content = content
        self.range = range
        isDeferred = other.isDeferred
        hasSubstitution = other.hasSubstitution
        size = other.size
    }

    /// Text of a scalar; nil for collections.
    package var text: String? {
        if case .scalar(let text, _) = content { return text }
        return nil
    }

    /// Whether the node is a null value: a plain scalar that is empty, `~` or `null`.
    package var isNull: Bool {
        guard case .scalar(let text, .plain) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    /// Kind of the node for messages.
    package var kind: String {
        switch content {
        case .scalar: isNull ? "an empty value" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// Returns the value of a key; nil if there is none.
    package subscript(key key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// Returns the node with one more step in the context of every source range in it.
    package func addingStep(
        through kind: SourceContext.Kind, _ message: String, at location: SourceRange?
    ) -> YAMLNode {
        // Nodes of a subtree mostly share one context, so the new step is shared too.
        var last: (old: SourceContext?, new: SourceContext)?
        func step(_ old: SourceContext?) -> SourceContext {
            if let last, last.old === old { return last.new }
            let new = SourceContext(kind, message, at: location, after: old)
            last = (old, new)
            return new
        }
        return mappingRanges { $0.with(context: step($0.context)) }
    }

    /// Returns the node with all ranges transformed. The recursion is bounded by the parser's depth limit.
    private func mappingRanges(_ transform: (SourceRange) -> SourceRange) -> YAMLNode {
        let content: Content
        switch self.content {
        case .scalar: content = self.content
        case .sequence(let items): content = .sequence(items.map { $0.mappingRanges(transform) })
        case .mapping(let entries):
            content = .mapping(
                entries.map {
                    Entry(
                        key: $0.key, keyRange: transform($0.keyRange),
                        value: $0.value.mappingRanges(transform))
                })
        }
        return YAMLNode(content, at: transform(range), as: self)
    }
}
