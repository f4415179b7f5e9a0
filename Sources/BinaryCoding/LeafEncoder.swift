/// An encoder that splits a value into its leaves: each number and text with its path, so that the differences of two
/// values can be reported. Nil has no leaf; the name of an enumeration's case is a leaf.
package struct LeafEncoder {
    /// The path of a leaf, from the outside in.
    package struct Path: Codable, Hashable, Sendable {
        /// Names of properties and cases, and indices in lists.
        package var keys: [String]
        /// Key that is data, such as that of a tag; nil for none.
        package var entry: String?

        package init(keys: [String] = [], entry: String? = nil) { (self.keys, self.entry) = (keys, entry) }

        fileprivate func appending(_ key: String) -> Path { Path(keys: keys + [key], entry: entry) }
    }

    /// A coding key that is data, not the name of a property.
    package protocol EntryKey: CodingKey {}

    package struct Leaf: Equatable, Sendable {
        package var path: Path
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
        try collector.add(value, at: Path())
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

    func add(_ value: some Encodable, at path: LeafEncoder.Path) throws {
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

    func note(_ text: String, at path: LeafEncoder.Path) {
        leaves.append(LeafEncoder.Leaf(path: path, value: text))
    }
}

private struct LeafValue: Encoder {
    let collector: LeafCollector
    let path: LeafEncoder.Path

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
    let path: LeafEncoder.Path
    let hasEntries = Key.self is any LeafEncoder.EntryKey.Type

    private func path(of key: Key) -> LeafEncoder.Path {
        guard hasEntries else { return path.appending(key.stringValue) }
        return LeafEncoder.Path(keys: path.keys, entry: key.stringValue)
    }

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil(forKey key: Key) {}

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try collector.add(value, at: path(of: key))
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        // Enumeration cases are encoded this way; a case without values would have no leaf otherwise.
        collector.note(key.stringValue, at: path)
        return LeafValue(collector: collector, path: path(of: key)).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        ListedLeaves(collector: collector, path: path(of: key))
    }

    mutating func superEncoder() -> any Encoder { LeafValue(collector: collector, path: path) }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
        LeafValue(collector: collector, path: path(of: key))
    }
}

private struct ListedLeaves: UnkeyedEncodingContainer {
    let collector: LeafCollector
    let path: LeafEncoder.Path
    private(set) var count = 0

    init(collector: LeafCollector, path: LeafEncoder.Path) { (self.collector, self.path) = (collector, path) }

    var codingPath: [any CodingKey] { [] }

    private mutating func next() -> LeafEncoder.Path {
        defer { count += 1 }
        return path.appending("\(count)")
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
    let path: LeafEncoder.Path

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
