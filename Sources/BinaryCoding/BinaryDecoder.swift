/// A decoder for the output of `BinaryEncoder`. Corrupted input results in an error or in a valid value of the type.
/// It never causes a trap, and decoded numbers are always finite.
package struct BinaryDecoder {
    /// Options that values may read while they are decoded.
    package var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    package init() {}

    /// Decodes a value.
    /// - Throws: `DecodingError` if the bytes aren't a valid encoding of the type.
    package func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let reader = try BinaryReader(bytes, userInfo: userInfo)
        return try Value(from: ValueDecoder(reader: reader, position: reader.start))
    }
}

private struct ValueDecoder: Decoder {
    let reader: BinaryReader
    let position: Int

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { reader.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedMembers(reader: reader, members: try reader.keyed(at: position)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let members = try reader.list(at: position)
        return ListedMembers(reader: reader, next: members.lowerBound, end: members.upperBound)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleMember(reader: reader, position: position)
    }
}

private final class KeyedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let reader: BinaryReader
    private let members: [(key: Int, position: Int)]
    /// Index after the member that was found last, at which the next search starts: members are usually decoded in
    /// the order in which they were encoded.
    private var next = 0

    init(reader: BinaryReader, members: [(key: Int, position: Int)]) {
        self.reader = reader
        self.members = members
    }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { members.compactMap { Key(stringValue: reader.keys[$0.key]) } }

    private func find(_ key: String) -> Int? {
        guard let number = reader.number(of: key) else { return nil }
        for step in 0..<members.count {
            let index = (next + step) % members.count
            if members[index].key == number {
                next = index + 1
                return members[index].position
            }
        }
        return nil
    }

    private func value(_ key: any CodingKey) throws -> ValueDecoder {
        guard let position = find(key.stringValue) else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: [], debugDescription: "no `\(key.stringValue)`"))
        }
        return ValueDecoder(reader: reader, position: position)
    }

    func contains(_ key: Key) -> Bool { find(key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { reader.isNull(at: try value(key).position) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try Value(from: try value(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try value(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { throw BinaryReader.corrupted("a class with a superclass") }

    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }
}

private struct ListedMembers: UnkeyedDecodingContainer {
    let reader: BinaryReader
    var next: Int
    let end: Int
    private(set) var currentIndex = 0

    init(reader: BinaryReader, next: Int, end: Int) {
        (self.reader, self.next, self.end) = (reader, next, end)
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    var isAtEnd: Bool { next >= end }

    private mutating func take() throws -> ValueDecoder {
        guard !isAtEnd else { throw BinaryReader.corrupted("a list too short") }
        let decoder = ValueDecoder(reader: reader, position: next)
        next = try reader.end(of: next, before: end)
        currentIndex += 1
        return decoder
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, reader.isNull(at: next) else { return false }
        _ = try take()
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: take()) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try take().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try take().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try take() }
}

private struct SingleMember: SingleValueDecodingContainer {
    let reader: BinaryReader
    let position: Int

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { reader.isNull(at: position) }
    func decode(_ type: Bool.Type) throws -> Bool { try reader.read(type, at: position) }
    func decode(_ type: String.Type) throws -> String { try reader.read(type, at: position) }
    func decode(_ type: Double.Type) throws -> Double { try reader.read(type, at: position) }
    func decode(_ type: Float.Type) throws -> Float {
        let value = Float(try reader.read(Double.self, at: position))
        guard value.isFinite else { throw BinaryReader.corrupted("a number too great") }
        return value
    }
    func decode(_ type: Int.Type) throws -> Int { try reader.read(type, at: position) }
    func decode(_ type: Int8.Type) throws -> Int8 { try reader.read(type, at: position) }
    func decode(_ type: Int16.Type) throws -> Int16 { try reader.read(type, at: position) }
    func decode(_ type: Int32.Type) throws -> Int32 { try reader.read(type, at: position) }
    func decode(_ type: Int64.Type) throws -> Int64 { try reader.read(type, at: position) }
    func decode(_ type: UInt.Type) throws -> UInt { try reader.read(type, at: position) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try reader.read(type, at: position) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try reader.read(type, at: position) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try reader.read(type, at: position) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try reader.read(type, at: position) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: ValueDecoder(reader: reader, position: position))
    }
}
