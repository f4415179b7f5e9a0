internal import Diagnostics
internal import YAMLDocument

/// Merging of mappings key by key. The upper mapping takes precedence; lists and scalars are replaced.
///
/// Short forms are expanded first. Mutually exclusive keys replace each other: a job's `bitrate` replaces the settings'
/// `crf`.
enum NodeMerge {
    static func merge(_ upper: YAMLNode, over lower: YAMLNode, as type: MappingType) -> YAMLNode {
        guard case .mapping(let above) = upper.content, case .mapping(let below) = lower.content else {
            return upper
        }
        let names = Set(above.map(\.key))
        let replaced = type.alternatives.filter {
            !$0.keys.allSatisfy { !names.contains($0) } && $0.isExclusive
        }
        .flatMap(\.keys)
        WorkCount.add(above.count + below.count)
        // Only keys of the language are merged; others (`x-…`, variables) are replaced, so they need no entry here.
        var bases: [String: YAMLNode.Entry] = [:]
        for entry in below where names.contains(entry.key) { bases[entry.key] = entry }
        var entries = above.map { entry in
            guard let base = bases[entry.key], let key = type.key(entry.key) else { return entry }
            return YAMLNode.Entry(
                key: entry.key, keyRange: entry.keyRange, value: merge(entry.value, over: base.value, key))
        }
        for entry in below where !names.contains(entry.key) && !replaced.contains(entry.key) {
            entries.append(entry)
        }
        return YAMLNode(.mapping(entries), at: upper.range)
    }

    private static func merge(_ upper: YAMLNode, over lower: YAMLNode, _ key: KeyInfo) -> YAMLNode {
        guard let type = key.type.mapping(for: lower) else {
            if case .mapOf = key.type { return merge(upper, over: lower, as: .free) }
            return upper
        }
        // An asset's id is not a short form of a mapping.
        if key.name == "asset", let text = upper.text, Identifier.isValid(text) { return upper }
        // Mappings of different types aren't merged: another job's output has no `path`.
        if let above = key.type.kind(of: upper), let below = key.type.kind(of: lower), above !== below {
            return upper
        }
        return merge(expanded(upper, as: type), over: expanded(lower, as: type), as: type)
    }

    /// Expands a short form to a mapping with one key: a destination that is a string becomes `{ path: … }`.
    static func expanded(_ node: YAMLNode, as type: MappingType) -> YAMLNode {
        guard let short = type.shortForm, node.text != nil, !node.isNull else { return node }
        return YAMLNode(
            .mapping([YAMLNode.Entry(key: short, keyRange: node.range, value: node)]), at: node.range)
    }
}
