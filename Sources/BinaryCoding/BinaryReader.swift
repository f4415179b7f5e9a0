/// A reader of encoded bytes, which may come from an untrusted sender. Every position is checked.
final class BinaryReader {
    let userInfo: [CodingUserInfoKey: any Sendable]
    private let bytes: [UInt8]
    private(set) var keys: [String] = []
    private var numbers: [String: Int] = [:]
    /// Position of the value, which follows the table of keys.
    private(set) var start = 0

    init(_ bytes: [UInt8], userInfo: [CodingUserInfoKey: any Sendable]) throws {
        self.bytes = bytes
        self.userInfo = userInfo
        let number = try count(at: &start, before: bytes.count)
        guard number <= BinaryLimit.keys else { throw Self.corrupted("too many keys") }
        for number in 0..<number {
            let begin = start
            keys.append(try text(at: &start, before: bytes.count))
            guard start - begin <= BinaryLimit.key + 2,
                numbers.updateValue(number, forKey: keys[number]) == nil
            else { throw Self.corrupted("no key") }
        }
        guard try end(of: start, before: bytes.count) == bytes.count else {
            throw Self.corrupted("something behind the value")
        }
    }

    /// Returns the index of a key in the table; nil if the table doesn't contain it.
    func number(of key: String) -> Int? { numbers[key] }

    static func corrupted(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: reason))
    }

    private static func mismatch(_ type: Any.Type) -> DecodingError {
        .typeMismatch(type, .init(codingPath: [], debugDescription: "a value of another kind"))
    }

    private func tag(at position: Int, before limit: Int) throws -> BinaryTag {
        guard position < limit, let tag = BinaryTag(rawValue: bytes[position]) else {
            throw Self.corrupted("no value")
        }
        return tag
    }

    /// Reads an unsigned number of variable length (LEB128).
    private func number(at position: inout Int, before limit: Int) throws -> UInt64 {
        var (value, shift): (UInt64, UInt64) = (0, 0)
        while position < limit, shift < 64 {
            let byte = bytes[position]
            position += 1
            if shift == 63, byte > 1 { break }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw Self.corrupted("no number")
    }

    private func count(at position: inout Int, before limit: Int) throws -> Int {
        guard let count = Int(exactly: try number(at: &position, before: limit)) else {
            throw Self.corrupted("a number too great")
        }
        return count
    }

    private func text(at position: inout Int, before limit: Int) throws -> String {
        let length = try count(at: &position, before: limit)
        guard length <= limit - position,
            let text = String(validating: bytes[position..<position + length], as: UTF8.self)
        else { throw Self.corrupted("no text") }
        position += length
        return text
    }

    /// Returns the byte range of a container's members.
    private func members(at position: Int, before limit: Int) throws -> Range<Int> {
        guard limit - position >= 5 else { throw Self.corrupted("no container") }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[position + 1 + $1]) << (8 * $1) }
        guard length <= limit - position - 5 else { throw Self.corrupted("a container is truncated") }
        return position + 5..<position + 5 + length
    }

    /// Returns the position after the value at a position.
    func end(of position: Int, before limit: Int) throws -> Int {
        var next = position + 1
        switch try tag(at: position, before: limit) {
        case .null, .no, .yes: break
        case .number, .negative: _ = try number(at: &next, before: limit)
        case .float:
            guard limit - next >= 8 else { throw Self.corrupted("no number") }
            next += 8
        case .text:
            let length = try count(at: &next, before: limit)
            guard length <= limit - next else { throw Self.corrupted("no text") }
            next += length
        case .keyed, .list: next = try members(at: position, before: limit).upperBound
        }
        return next
    }

    /// Returns the members of a keyed container: the index of each key, and the position of its value.
    func keyed(at position: Int) throws -> [(key: Int, position: Int)] {
        guard try tag(at: position, before: bytes.count) == .keyed else {
            throw Self.mismatch([String: Any].self)
        }
        let members = try members(at: position, before: bytes.count)
        var found: [(key: Int, position: Int)] = []
        found.reserveCapacity(min(32, members.count / 2))
        var next = members.lowerBound
        while next < members.upperBound {
            let key = try count(at: &next, before: members.upperBound)
            guard key < keys.count else { throw Self.corrupted("an unknown key") }
            // Lookup is linear in the number of members, so that their number must be limited.
            guard found.count < BinaryLimit.keys else { throw Self.corrupted("too many keys") }
            found.append((key, next))
            next = try end(of: next, before: members.upperBound)
        }
        return found
    }

    /// Returns the byte range of a list's members.
    func list(at position: Int) throws -> Range<Int> {
        guard try tag(at: position, before: bytes.count) == .list else { throw Self.mismatch([Any].self) }
        return try members(at: position, before: bytes.count)
    }

    func isNull(at position: Int) -> Bool {
        position < bytes.count && bytes[position] == BinaryTag.null.rawValue
    }

    func read(_ type: Bool.Type, at position: Int) throws -> Bool {
        switch try tag(at: position, before: bytes.count) {
        case .no: false
        case .yes: true
        default: throw Self.mismatch(type)
        }
    }

    func read<Number: FixedWidthInteger>(_ type: Number.Type, at position: Int) throws -> Number {
        var next = position + 1
        let value: Number?
        switch try tag(at: position, before: bytes.count) {
        case .number: value = Number(exactly: try number(at: &next, before: bytes.count))
        case .negative:
            value = Int64(exactly: try number(at: &next, before: bytes.count)).flatMap {
                Number(exactly: ~$0)
            }
        default: throw Self.mismatch(type)
        }
        guard let value else { throw Self.corrupted("a number too great") }
        return value
    }

    func read(_ type: Double.Type, at position: Int) throws -> Double {
        guard try tag(at: position, before: bytes.count) == .float, bytes.count - position >= 9 else {
            throw Self.mismatch(type)
        }
        let value = Double(
            bitPattern: (0..<8).reduce(0) { $0 | UInt64(bytes[position + 1 + $1]) << (8 * UInt64($1)) })
        guard value.isFinite else { throw Self.corrupted("no finite number") }
        return value
    }

    func read(_ type: String.Type, at position: Int) throws -> String {
        guard try tag(at: position, before: bytes.count) == .text else { throw Self.mismatch(type) }
        var next = position + 1
        return try text(at: &next, before: bytes.count)
    }
}
