internal import YAMLDocument

/// The type of a value in a job file. The decoder's validation, the schema and the reference are derived from it.
package indirect enum ValueType: Sendable {
    /// Any text, including numbers and booleans.
    case string(mayBeEmpty: Bool = true)
    /// A name that `Identifier` accepts.
    case identifier
    /// A scalar with a syntax of its own.
    case scalar(any ScalarSyntax)
    /// The value `true`; the key is omitted otherwise.
    case onlyTrue
    /// A word of a list.
    case word([String])
    /// A mapping with known keys.
    case mapping(MappingType)
    /// A mapping with user-defined keys.
    case mapOf(ValueType, keys: MapKeys, mayBeEmpty: Bool = true)
    /// A list of values of one type, with a maximum number of values.
    case list(ValueType, atLeast: Int = 1, atMost: Int? = nil)
    /// A choice of several types.
    case oneOf([ValueType])

    /// The keys of a mapping with user-defined keys.
    package enum MapKeys: Sendable {
        case identifiers
        /// Any text.
        case any
    }
}

extension ValueType {
    /// `true` or `false`.
    static let boolean = ValueType.scalar(Language.boolean)
    /// Returns the type of an integer in a range.
    static func integer(_ range: ClosedRange<Int>) -> ValueType { .scalar(Language.integer(range)) }
    /// Returns the type of a number in a range.
    static func number(_ range: ClosedRange<Double>) -> ValueType { .scalar(Language.number(range)) }
    /// Returns the type of a number in a range with at most three decimals. `noun` describes it in messages.
    static func thousandths(_ range: ClosedRange<Double>, as noun: String = "a number") -> ValueType {
        .scalar(Language.thousandths(range, as: noun))
    }

    /// Returns the mapping type for a node: the first that has all keys of the node, otherwise the first of all; nil if
    /// the type includes no mapping.
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
    /// Returns whether a node of that kind (scalar, list or mapping) may be a value of this type.
    func acceptsKind(of node: YAMLNode) -> Bool {
        switch (self, node.content) {
        case (.oneOf(let types), _): types.contains { $0.acceptsKind(of: node) }
        case (.mapping(let type), .scalar): type.shortForm != nil
        case (.mapping, .mapping), (.mapOf, .mapping), (.list, .sequence): true
        case (.mapping, _), (.mapOf, _), (.list, _): false
        case (_, .scalar): true
        default: false
        }
    }

    /// Returns the first mapping type whose required keys a node contains or, for a scalar, the first with a short
    /// form; nil if there is none.
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

/// A mapping with known keys. A class, because several threads use the tables for every mapping of a file, and copies
/// of a struct would update reference counts each time.
package final class MappingType: Sendable {
    /// Name in the schema's definitions.
    package let name: String
    /// Noun phrase for messages, such as "a job".
    package let title: String
    /// Description in the reference and the schema.
    package let summary: String
    /// Keys in the order of the reference.
    package let keys: [KeyInfo]
    /// Groups of keys with a required or maximum number.
    package let alternatives: [KeyGroup]
    /// Keys that require another key.
    let dependencies: [Dependency]
    /// Keys that have another type if another key is absent.
    let stricter: [StricterType]
    /// Key that a scalar in place of the mapping sets; nil if a scalar is not allowed.
    package let shortForm: String?

    /// Name of the type that the mapping is the partial form of; its own name if it is complete.
    let completeName: String
    /// Whether the mapping is the partial form of another one.
    var isPartial: Bool { completeName != name }

    /// A key that requires another key.
    struct Dependency: Sendable {
        let key: String
        let required: String
    }

    /// The type of a key if another key is absent.
    struct StricterType: Sendable {
        let key: String
        let type: ValueType
        let without: String
    }
    private let byName: [String: KeyInfo]
    /// Names of the keys, for the linear search of `has`.
    private let names: [String]
    let requiredNames: [String]
    let hasAlternatives: Bool

    init(
        _ name: String, _ title: String, _ summary: String, keys: [KeyInfo],
        alternatives: [KeyGroup] = [], dependencies: [Dependency] = [], stricter: [StricterType] = [],
        shortForm: String? = nil, completeName: String? = nil
    ) {
        self.completeName = completeName ?? name
        self.dependencies = dependencies
        self.stricter = stricter
        self.name = name
        self.title = title
        self.summary = summary
        self.keys = keys
        self.alternatives = alternatives
        self.shortForm = shortForm
        byName = Dictionary(uniqueKeysWithValues: keys.map { ($0.name, $0) })
        names = keys.map(\.name)
        requiredNames = keys.filter(\.isRequired).map(\.name)
        hasAlternatives = !alternatives.isEmpty
    }

    func has(_ name: String) -> Bool {
        let length = name.utf8.count
        for index in names.indices where names[index].utf8.count == length && names[index] == name {
            return true
        }
        return false
    }

    func key(_ name: String) -> KeyInfo? { byName[name] }

    /// A mapping without known keys, for merging mappings with arbitrary keys.
    static let free = MappingType("free", "a mapping", "", keys: [])

    /// Returns the type without required keys, for `defaults` and named settings, which may be incomplete.
    func partial(_ suffix: String = "Part") -> MappingType {
        if isPartial { return self }
        return MappingType(
            name + suffix, title, summary,
            keys: keys.map {
                KeyInfo(
                    $0.name, $0.type.partial(suffix), $0.summary, default: $0.defaultText,
                    examples: $0.examples)
            },
            alternatives: alternatives.filter(\.isExclusive).map { .atMostOne($0.keys) },
            shortForm: shortForm, completeName: name)
    }
}

extension ValueType {
    /// Returns the type for partial mappings. Lists are replaced as a whole, so their elements keep their required
    /// keys.
    fileprivate func partial(_ suffix: String) -> ValueType {
        switch self {
        case .mapping(let type): .mapping(type.partial(suffix))
        case .oneOf(let types): .oneOf(types.map { $0.partial(suffix) })
        default: self
        }
    }
}

/// A group of keys with a required or maximum number.
package struct KeyGroup: Sendable {
    package let keys: [String]
    /// Whether at least one key is required.
    package let isRequired: Bool
    /// Whether at most one key is allowed.
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
    package let name: String
    package let type: ValueType
    /// Description in the reference and the schema.
    package let summary: String
    package let isRequired: Bool
    /// Default as text; nil if there is none.
    package let defaultText: String?
    /// Example values of a key that accepts more than can be listed.
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

    init(
        _ name: String, _ syntax: any ScalarSyntax, _ summary: String, required: Bool = false,
        default defaultText: String? = nil
    ) {
        self.init(name, .scalar(syntax), summary, required: required, default: defaultText)
    }
}
