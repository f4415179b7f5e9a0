/// An encoder that splits a value into its leaves: each number and text with its path, so that the differences of two
/// values can be reported. Nil has no leaf; the name of an enumeration's case is a leaf.
package struct LeafEncoder {
    package struct Leaf: Equatable, Sendable {
        /// Path of the leaf: keys, and indices in lists.
        package var path: [String]
        /// Number, flag, text or case name as text.
        package var value: String
    }

    /// Options that values may read while they are encoded.
    package var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Returns the value that is encoded in place of another one; nil to encode that one. Not called for numbers, flags,
    /// texts and the values that it returns.
    package var substitute: @Sendable (_ value: any Encodable) -> (any Encodable)? = { _ in nil }

    package init() {}

    /// Returns the leaves of a value, in the order in which the value encodes them.
    /// - Throws: errors of the value's `encode(to:)`.
    package func leaves(of value: some Encodable) throws -> [Leaf] {
        let collector = LeafCollector(userInfo: userInfo, substitute: substitute)
        try collector.add(value, at: [])
        return collector.leaves
    }
}

private final class LeafCollector {
    let userInfo: [CodingUserInfoKey: any Sendable]
    let substitute: @Sendable (any Encodable) -> (any Encodable)?
    var leaves: [LeafEncoder.Leaf] = []

    init(
        userInfo: [CodingUserInfoKey: any Sendable],
        substitute: @escaping @Sendable (any Encodable) -> (any Encodable)?
    ) {
        self.userInfo = userInfo
        self.substitute = substitute
    }

    func add(_ value: some Encodable, at path: [String]) throws {
        switch value {
        case let text as String: note(text, at: path)
        case let number as Int: note("\(number)", at: path)
        case let number as Int64: note("\(number)", at: path)
        case let number as Int32: note("\(number)", at: path)
        case let number as Double: note("\(number)", at: path)
        case let flag as Bool: note(flag ? "true" : "false", at: path)
        default: try (substitute(value) ?? value).encode(to: LeafValue(collector: self, path: path))
        }
    }

    func note(_ text: String, at path: [String]) {
        leaves.append(LeafEncoder.Leaf(path: path, value: text))
    }
}

private struct LeafValue: Encoder {
    let collector: LeafCollector
    let path: [String]

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { collector.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedLeaves(collector: collector, path: path))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        ListedLeaves(collector: collector, path: path)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleLeaf(collector: collector, path: path)
    }
}

private struct KeyedLeaves<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let collector: LeafCollector
    let path: [String]

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) {}

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try collector.add(value, at: path + [key.stringValue])
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        // Enumeration cases are encoded this way; a case without values would have no leaf otherwise.
        collector.note(key.stringValue, at: path)
        return LeafValue(collector: collector, path: path + [key.stringValue]).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ListedLeaves(collector: collector, path: path + [key.stringValue])
    }

    mutating func superEncoder() -> any Encoder { LeafValue(collector: collector, path: path + ["super"]) }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
        LeafValue(collector: collector, path: path + [key.stringValue])
    }
}

private struct ListedLeaves: UnkeyedEncodingContainer {
    let collector: LeafCollector
    let path: [String]
    private(set) var count = 0

    init(collector: LeafCollector, path: [String]) { (self.collector, self.path) = (collector, path) }

    var codingPath: [any CodingKey] { [] }

    private mutating func next() -> [String] {
        defer { count += 1 }
        return path + ["\(count)"]
    }

    mutating func encodeNil() { _ = next() }

    mutating func encode<Value: Encodable>(_ value: Value) throws { try collector.add(value, at: next()) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        LeafValue(collector: collector, path: next()).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        ListedLeaves(collector: collector, path: next())
    }

    mutating func superEncoder() -> any Encoder { LeafValue(collector: collector, path: next()) }
}

private struct SingleLeaf: SingleValueEncodingContainer {
    let collector: LeafCollector
    let path: [String]

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() {}
    mutating func encode(_ value: Bool) { collector.note(value ? "true" : "false", at: path) }
    mutating func encode(_ value: String) { collector.note(value, at: path) }
    mutating func encode(_ value: Double) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: Float) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: Int) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: Int8) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: Int16) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: Int32) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: Int64) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: UInt) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: UInt8) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: UInt16) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: UInt32) { collector.note("\(value)", at: path) }
    mutating func encode(_ value: UInt64) { collector.note("\(value)", at: path) }
    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try collector.add(value, at: path)
    }
}
