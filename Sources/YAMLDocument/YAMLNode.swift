public import Diagnostics

/// A part of a YAML document with the exact range that it was written in.
public struct YAMLNode: Sendable {
    /// How a scalar was written.
    public enum ScalarStyle: Sendable {
        /// Without quotes.
        case plain
        /// In single or double quotes.
        case quoted
        /// As a block (`|`, `>`).
        case block
    }

    /// One entry of a mapping.
    public struct Entry: Sendable {
        /// The key's text.
        public var key: String
        /// Where the key stands.
        public var keyRange: SourceRange
        /// The value.
        public var value: YAMLNode
    }

    /// What it is.
    public enum Content: Sendable {
        /// Text; what it means is decided by who reads it.
        case scalar(String, ScalarStyle)
        /// A list.
        case sequence([YAMLNode])
        /// Keys and values in order, merge keys resolved, no key twice.
        case mapping([Entry])
    }

    /// What it is.
    public var content: Content
    /// Where it stands; for an alias, where its anchor's text stands.
    public var range: SourceRange
    /// Where an alias brought it in.
    public var aliasRange: SourceRange?
    /// Nodes in it, itself included, aliases expanded.
    var size: Int

    /// The text of a scalar.
    public var text: String? {
        if case .scalar(let text, _) = content { return text }
        return nil
    }

    /// A plain scalar that says "nothing": empty, `~` or `null`.
    public var isNull: Bool {
        guard case .scalar(let text, .plain) = content else { return false }
        return text.isEmpty || text == "~" || text == "null"
    }

    /// What to call it in a message.
    public var kind: String {
        switch content {
        case .scalar: isNull ? "nothing" : "a single value"
        case .sequence: "a list"
        case .mapping: "a mapping"
        }
    }
}
