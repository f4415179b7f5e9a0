/// What a value in a job file may be. The decoder, the schema and the reference are made from it.
public indirect enum ValueType: Sendable {
    /// Any text.
    case string
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
    /// One of some words.
    case word([String])
    /// Keys that are known.
    case mapping(MappingType)
    /// Keys that the user chooses.
    case mapOf(ValueType, keys: MapKeys)
    /// A list.
    case list(ValueType)
    /// One of several types.
    case oneOf([ValueType])

    /// What the keys of a free mapping may be.
    public enum MapKeys: Sendable {
        /// Names.
        case identifiers
        /// Any text.
        case any
    }
}

/// A mapping with known keys.
public struct MappingType: Sendable {
    /// Its name in messages and in the schema's definitions.
    public let name: String
    /// What it is, in a sentence.
    public let summary: String
    /// Its keys, in the order of the reference.
    public let keys: [KeyInfo]
    /// Keys of the job language that this version doesn't have yet: a message of their own.
    public let laterKeys: [String]
    /// At least one of each group must be there, and of a group with `exclusive` exactly one.
    public let alternatives: [KeyGroup]

    init(
        _ name: String, _ summary: String, keys: [KeyInfo], laterKeys: [String] = [],
        alternatives: [KeyGroup] = []
    ) {
        self.name = name
        self.summary = summary
        self.keys = keys
        self.laterKeys = laterKeys
        self.alternatives = alternatives
    }
}

/// Keys of which so many must be there.
public struct KeyGroup: Sendable {
    /// The keys.
    public let keys: [String]
    /// One must be there.
    public let isRequired: Bool

    static func exactlyOne(_ keys: [String]) -> KeyGroup { KeyGroup(keys: keys, isRequired: true) }
    static func atMostOne(_ keys: [String]) -> KeyGroup { KeyGroup(keys: keys, isRequired: false) }
}

/// A key of a mapping.
public struct KeyInfo: Sendable {
    /// The key.
    public let name: String
    /// What its value may be.
    public let type: ValueType
    /// What it does, in a sentence.
    public let summary: String
    /// It must be there.
    public let isRequired: Bool
    /// What holds when it is absent, as text.
    public let defaultText: String?

    init(
        _ name: String, _ type: ValueType, _ summary: String, required: Bool = false,
        default defaultText: String? = nil
    ) {
        self.name = name
        self.type = type
        self.summary = summary
        isRequired = required
        self.defaultText = defaultText
    }
}
