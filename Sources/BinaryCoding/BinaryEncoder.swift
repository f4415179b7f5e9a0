/// An encoder with a compact binary format, for messages between processes of the same version and for the input of
/// digests. Equal values result in equal bytes, unless they contain dictionaries.
package struct BinaryEncoder {
    /// Options that values may read while they are encoded.
    package var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    package init() {}

    /// Encodes a value.
    /// - Throws: `EncodingError` if a number isn't finite, if there are more than 4096 keys or one that isn't ASCII,
    ///   or if a value writes two containers or alternates between containers; errors of the value's `encode(to:)`.
    package func encode(_ value: some Encodable) throws -> [UInt8] {
        let writer = BinaryWriter(userInfo: userInfo)
        try writer.writeValue(value)
        return try writer.finish()
    }
}

struct ValueEncoder: Encoder {
    let writer: BinaryWriter
    /// Number of enclosing containers.
    private let depth: Int

    init(writer: BinaryWriter) {
        self.writer = writer
        depth = writer.depth
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { writer.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedValues(writer: writer, container: begin(.keyed)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        ListedValues(writer: writer, container: begin(.list))
    }

    private func begin(_ tag: BinaryTag) -> BinaryWriter.Container {
        if writer.depth != depth { writer.problem = "a value of two containers" }
        return writer.begin(tag)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleValue(writer: writer) }
}

private struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let writer: BinaryWriter
    let container: BinaryWriter.Container

    var codingPath: [any CodingKey] { [] }

    private func begin(_ key: String) {
        writer.resume(container)
        writer.key(key)
    }

    mutating func encodeNil(forKey key: Key) {
        begin(key.stringValue)
        writer.null()
    }

    mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        begin(key.stringValue)
        try writer.writeValue(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        begin(key.stringValue)
        return ValueEncoder(writer: writer).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        begin(key.stringValue)
        return ValueEncoder(writer: writer).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { unsupported() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { unsupported() }

    /// Records that the value can't be encoded, for which `BinaryWriter.finish` throws: `superEncoder` itself can't
    /// throw.
    private func unsupported() -> any Encoder {
        writer.problem = "a class with a superclass"
        return ValueEncoder(writer: writer)
    }
}

private struct ListedValues: UnkeyedEncodingContainer {
    let writer: BinaryWriter
    let container: BinaryWriter.Container
    private(set) var count = 0

    init(writer: BinaryWriter, container: BinaryWriter.Container) {
        (self.writer, self.container) = (writer, container)
    }

    var codingPath: [any CodingKey] { [] }

    private mutating func begin() {
        writer.resume(container)
        count += 1
    }

    mutating func encodeNil() {
        begin()
        writer.null()
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        begin()
        try writer.writeValue(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        begin()
        return ValueEncoder(writer: writer).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        begin()
        return ValueEncoder(writer: writer).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        writer.problem = "a class with a superclass"
        return ValueEncoder(writer: writer)
    }
}

private struct SingleValue: SingleValueEncodingContainer {
    let writer: BinaryWriter

    var codingPath: [any CodingKey] { [] }

    func encodeNil() { writer.null() }
    func encode(_ value: Bool) { writer.write(value) }
    func encode(_ value: String) { writer.write(value) }
    func encode(_ value: Double) throws { try writer.write(value) }
    func encode(_ value: Float) throws { try writer.write(Double(value)) }
    func encode(_ value: Int) { writer.writeNumber(value) }
    func encode(_ value: Int8) { writer.writeNumber(value) }
    func encode(_ value: Int16) { writer.writeNumber(value) }
    func encode(_ value: Int32) { writer.writeNumber(value) }
    func encode(_ value: Int64) { writer.writeNumber(value) }
    func encode(_ value: UInt) { writer.writeNumber(value) }
    func encode(_ value: UInt8) { writer.writeNumber(value) }
    func encode(_ value: UInt16) { writer.writeNumber(value) }
    func encode(_ value: UInt32) { writer.writeNumber(value) }
    func encode(_ value: UInt64) { writer.writeNumber(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try writer.writeValue(value) }
}
