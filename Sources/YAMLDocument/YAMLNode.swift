package import Diagnostics

/// A part of a YAML document with the exact range that it was written in. Never changes; a class, since nodes are
/// handed about by the hundred thousand.
package final class YAMLNode: Sendable {
    /// How a scalar was written.
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
        /// The key's text.
        package let key: String
        /// Where the key stands.
        package let keyRange: SourceRange
        /// The value.
        package let value: YAMLNode

        /// Makes an entry.
        package init(key: String, keyRange: SourceRange, value: YAMLNode) {
            self.key = key
            self.keyRange = keyRange
            self.value = value
        }
    }

    /// What it is.
    package enum Content: Sendable {
        /// Text; what it means is decided by who reads it.
        case scalar(String, ScalarStyle)
        /// A list.
        case sequence([YAMLNode])
        /// Keys and values in order, merge keys resolved, no key twice.
        case mapping([Entry])
    }

    /// What it is.
    package let content: Content
    /// Where it stands; for an alias, where its anchor's text stands, with the alias as its context.
    package let range: SourceRange
    /// A scalar in it has `${` in its text, so that only such parts are looked through.
    package let hasSubstitution: Bool
    /// Its text depends on what is known later only; what stands there now is no more than a frame of it.
    package let isDeferred: Bool
    /// Nodes in it, itself included, aliases expanded.
    package let size: Int32

    /// Makes a node of scalars and nodes that are there. `isFinal`: what looks like a substitution is none.
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

    /// The same content, or one with as many substitutions, at another place.
    private init(_ content: Content, at range: SourceRange, as other: YAMLNode) {
        self.content = content
        self.range = range
        isDeferred = other.isDeferred
        hasSubstitution = other.hasSubstitution
        size = other.size
    }

    /// The text of a scalar.
    package var text: String? {
        if case .scalar(let text, _) = content { return text }
        return nil
    }

    /// A plain scalar that says "nothing": empty, `~` or `null`.
    package var isNull: Bool {
        guard case .scalar(let text, .plain) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    /// What to call it in a message.
    package var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }

    /// The value of a key.
    package subscript(key key: String) -> YAMLNode? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// The same, with one more step on the way to every place in it.
    package func reached(
        through kind: SourceContext.Kind, _ message: String, at place: SourceRange?
    ) -> YAMLNode {
        // Nodes of one subtree mostly share one way, so the new step is shared too.
        var last: (old: SourceContext?, new: SourceContext)?
        func step(_ old: SourceContext?) -> SourceContext {
            if let last, last.old === old { return last.new }
            let new = SourceContext(kind, message, at: place, after: old)
            last = (old, new)
            return new
        }
        return mappingRanges { $0.with(context: step($0.context)) }
    }

    /// Recursion is bounded by the parser's limit on depth.
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
