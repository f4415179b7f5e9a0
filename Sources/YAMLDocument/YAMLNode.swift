package import Diagnostics

/// An immutable node of a YAML document with its exact source range. The type is a class, since copies of hundreds of
/// thousands of nodes would be expensive.
package final class YAMLNode: Sendable {
    package enum ScalarStyle: Sendable {
        /// Without quotes.
        case plain
        /// In single or double quotes.
        case quoted
        /// As a block (`|`, `>`).
        case block
    }

    package struct Entry: Sendable {
        package let key: String
        package let keyRange: SourceRange
        package let value: YAMLNode

        package init(key: String, keyRange: SourceRange, value: YAMLNode) {
            self.key = key
            self.keyRange = keyRange
            self.value = value
        }
    }

    package enum Content: Sendable {
        /// A scalar, whose text the reader of the node interprets.
        case scalar(String, ScalarStyle)
        /// A sequence of nodes.
        case sequence([YAMLNode])
        /// A mapping: entries in order, with merge keys resolved and without duplicate keys.
        case mapping([Entry])
    }

    package let content: Content
    /// Source range of the node; for an alias, the range of the anchored node, with the alias as context.
    package let range: SourceRange
    /// Whether the node contains a scalar with `${`. Substitution skips other nodes.
    package let hasSubstitution: Bool
    /// Whether the final text is determined later; the current text is a template.
    package let isDeferred: Bool
    /// Number of nodes in the subtree, including this node and expanded aliases.
    package let size: Int32

    /// Creates a node from a scalar or existing nodes. `isFinal` is whether `${` in the text is literal.
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

    /// Creates a node with the properties of another node, but other content and another location.
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

    /// Kind of the node as a phrase for messages.
    package var kind: String {
        switch content {
        case .scalar: isNull ? "an empty value" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// Returns the value of a mapping's key; nil if the node isn't a mapping or doesn't contain the key.
    package subscript(key key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// Returns the node with an additional step in the context of every source range in the subtree.
    package func addingStep(
        through kind: SourceContext.Kind, _ message: String, at location: SourceRange?
    ) -> YAMLNode {
        // Most nodes of a subtree have the same context, so that the new step can be shared.
        var last: (old: SourceContext?, new: SourceContext)?
        func step(_ old: SourceContext?) -> SourceContext {
            if let last, last.old === old { return last.new }
            let new = SourceContext(kind, message, at: location, after: old)
            last = (old, new)
            return new
        }
        return mappingRanges { $0.with(context: step($0.context)) }
    }

    /// Returns the node with all source ranges transformed. The parser's depth limit bounds the recursion.
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
