internal import YAMLDocument

/// What a value in a job file may be. The decoder, the schema and the reference are made from it.
package indirect enum ValueType: Sendable {
    /// Any text; numbers and truth values are text too.
    case string(mayBeEmpty: Bool = true)
    /// A name: `[A-Za-z_][A-Za-z0-9_-]*`.
    case identifier
    /// Text of a form, said by a pattern and an example.
    case text(pattern: String, example: String)
    /// A whole number in a range.
    case integer(ClosedRange<Int>)
    /// A number in a range; `step` only says how it is usually written.
    case number(ClosedRange<Double>)
    /// `true` or `false`.
    case boolean
    /// `true`: to say the contrary, the key is left out.
    case onlyTrue
    /// One of some words.
    case word([String])
    /// Keys that are known.
    case mapping(MappingType)
    /// Keys that the user chooses.
    case mapOf(ValueType, keys: MapKeys, mayBeEmpty: Bool = true)
    /// A list.
    case list(ValueType, mayBeEmpty: Bool = false)
    /// One of several types.
    case oneOf([ValueType])

    /// What the keys of a free mapping may be.
    package enum MapKeys: Sendable {
        /// Names.
        case identifiers
        /// Any text.
        case any
    }
}

extension ValueType {
    /// The mapping that a value of this type may be, chosen by the keys that a node has.
    func mapping(for node: YAMLNode) -> MappingType? {
        switch self {
        case .mapping(let type): return type
        case .oneOf(let types):
            let mappings = types.compactMap { type -> MappingType? in
                if case .mapping(let mapping) = type { mapping } else { nil }
            }
            guard mappings.count > 1, case .mapping(let entries) = node.content else { return mappings.first }
            return mappings.first { type in entries.allSatisfy { type.has($0.key) } } ?? mappings.first
        default: return nil
        }
    }
}

extension ValueType {
    /// A node of that kind (single value, list or mapping) may be a value of this type.
    func takesKind(of node: YAMLNode) -> Bool {
        switch (self, node.content) {
        case (.oneOf(let types), _): types.contains { $0.takesKind(of: node) }
        case (.mapping(let type), .scalar): type.shortForm != nil
        case (.mapping, .mapping), (.mapOf, .mapping), (.list, .sequence): true
        case (.mapping, _), (.mapOf, _), (.list, _): false
        case (_, .scalar): true
        default: false
        }
    }

    /// The kind of mapping that a node is for certain: it has all keys that the kind must have. A single value is the first
    /// one's short form.
    func kind(of node: YAMLNode) -> MappingType? {
        guard case .oneOf(let types) = self else { return nil }
        let mappings = types.compactMap { type -> MappingType? in
            if case .mapping(let mapping) = type { mapping } else { nil }
        }
        guard case .mapping(let entries) = node.content else {
            return node.text == nil ? nil : mappings.first { $0.shortForm != nil }
        }
        return mappings.first { type in
            !type.requiredNames.isEmpty
                && type.requiredNames.allSatisfy { name in entries.contains { $0.key == name } }
        }
    }
}

/// A mapping with known keys. A class: the tables are looked at for every mapping of a file, by several threads, and
/// must not be counted each time.
package final class MappingType: Sendable {
    /// Its name in the schema's definitions.
    package let name: String
    /// What messages call it: "a job".
    package let title: String
    /// What it is, in a sentence.
    package let summary: String
    /// Its keys, in the order of the reference.
    package let keys: [KeyInfo]
    /// Keys of the job language that this version doesn't have yet: a message of their own.
    package let laterKeys: [String]
    /// Keys of which so many must be there.
    package let alternatives: [KeyGroup]
    /// Keys that have another type where a key isn't there.
    let stricter: [Stricter]
    /// The key that a single value stands for.
    package let shortForm: String?

    /// What a key must be where another isn't there.
    struct Stricter: Sendable {
        let key: String
        let type: ValueType
        let without: String
    }
    private let byName: [String: KeyInfo]
    /// The keys' names, and those that must be there: short enough to be no objects.
    private let names: [String]
    let requiredNames: [String]
    let hasAlternatives: Bool

    init(
        _ name: String, _ title: String, _ summary: String, keys: [KeyInfo], laterKeys: [String] = [],
        alternatives: [KeyGroup] = [], stricter: [Stricter] = [], shortForm: String? = nil
    ) {
        self.stricter = stricter
        self.name = name
        self.title = title
        self.summary = summary
        self.keys = keys
        self.laterKeys = laterKeys
        self.alternatives = alternatives
        self.shortForm = shortForm
        byName = Dictionary(uniqueKeysWithValues: keys.map { ($0.name, $0) })
        names = keys.map(\.name)
        requiredNames = keys.filter(\.isRequired).map(\.name)
        hasAlternatives = !alternatives.isEmpty
    }

    /// It has a key of that name.
    func has(_ name: String) -> Bool {
        let length = name.utf8.count
        for index in names.indices where names[index].utf8.count == length && names[index] == name {
            return true
        }
        return false
    }

    /// A key by its name.
    func key(_ name: String) -> KeyInfo? { byName[name] }

    /// A mapping of anything, for merging.
    static let free = MappingType("free", "a mapping", "", keys: [])

    /// The same with nothing that must be there: what `defaults` and settings may say a part of.
    func partial(_ suffix: String = "Part") -> MappingType {
        if name.hasSuffix(suffix) { return self }
        return MappingType(
            name + suffix, title, summary,
            keys: keys.map {
                KeyInfo(
                    $0.name, $0.type.partial(suffix), $0.summary, default: $0.defaultText,
                    examples: $0.examples)
            },
            laterKeys: laterKeys,
            alternatives: alternatives.filter(\.isExclusive).map { .atMostOne($0.keys) }, shortForm: shortForm
        )
    }
}

extension ValueType {
    /// Lists are replaced as a whole, so what is in them stays as it must be.
    fileprivate func partial(_ suffix: String) -> ValueType {
        switch self {
        case .mapping(let type): .mapping(type.partial(suffix))
        case .oneOf(let types): .oneOf(types.map { $0.partial(suffix) })
        default: self
        }
    }
}

/// Keys of which so many must be there.
package struct KeyGroup: Sendable {
    /// The keys.
    package let keys: [String]
    /// One must be there.
    package let isRequired: Bool
    /// No more than one may be there.
    package let isExclusive: Bool

    static func exactlyOne(_ keys: [String]) -> KeyGroup {
        KeyGroup(keys: keys, isRequired: true, isExclusive: true)
    }
    static func atMostOne(_ keys: [String]) -> KeyGroup {
        KeyGroup(keys: keys, isRequired: false, isExclusive: true)
    }
    static func atLeastOne(_ keys: [String]) -> KeyGroup {
        KeyGroup(keys: keys, isRequired: true, isExclusive: false)
    }
}

/// A key of a mapping.
package struct KeyInfo: Sendable {
    /// The key.
    package let name: String
    /// What its value may be.
    package let type: ValueType
    /// What it does, in a sentence.
    package let summary: String
    /// It must be there.
    package let isRequired: Bool
    /// What holds when it is absent, as text.
    package let defaultText: String?
    /// Values of a key that takes more than can be listed.
    package let examples: [String]

    init(
        _ name: String, _ type: ValueType, _ summary: String, required: Bool = false,
        default defaultText: String? = nil, examples: [String] = []
    ) {
        self.examples = examples
        self.name = name
        self.type = type
        self.summary = summary
        isRequired = required
        self.defaultText = defaultText
    }
}
