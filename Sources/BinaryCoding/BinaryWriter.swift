/// The type of an encoded value, which is the first byte of its encoding.
enum BinaryTag: UInt8 {
    case null, no, yes
    /// An integer of at least 0.
    case number
    /// A negative integer, stored as its bitwise complement.
    case negative
    case float
    case text
    /// The total length in bytes, then pairs of a key's index in the table and a value.
    case keyed
    /// The total length in bytes, then values.
    case list
}

/// Limits that the encoder and the decoder check.
enum BinaryLimit {
    /// Maximum number of keys of all containers together.
    static let keys = 4096
    /// Maximum length of a key in bytes.
    static let key = 256
}

/// A writer of encoded values. Writing to an outer container closes those inside it.
final class BinaryWriter {
    /// An open container.
    struct Container {
        /// Number of open containers, including this one.
        var depth: Int
        /// Serial number that distinguishes the container from others that were open at the same depth.
        var number: Int
    }

    let userInfo: [CodingUserInfoKey: any Sendable]
    /// Reason why the value can't be encoded; nil if it can.
    var problem: String?
    private var bytes: [UInt8] = []
    private var numbers: [String: Int] = [:]
    private var keys: [String] = []
    /// Position of the length of each open container, with the container's serial number.
    private var open: [(start: Int, number: Int)] = []
    private var containers = 0

    init(userInfo: [CodingUserInfoKey: any Sendable]) {
        self.userInfo = userInfo
        bytes.reserveCapacity(4096)
    }

    /// Number of open containers.
    var depth: Int { open.count }

    /// Writes a container's tag and a placeholder for its length.
    func begin(_ tag: BinaryTag) -> Container {
        bytes.append(tag.rawValue)
        containers += 1
        open.append((bytes.count, containers))
        bytes.append(contentsOf: [0, 0, 0, 0])
        return Container(depth: open.count, number: containers)
    }

    /// Closes the containers that are open inside `container`, so that the next value is added to `container`.
    func resume(_ container: Container) {
        close(to: container.depth)
        if open.last?.number != container.number { problem = "writes to two containers are interleaved" }
    }

    /// Closes the innermost containers until `depth` are open.
    func close(to depth: Int) {
        while open.count > depth {
            let start = open.removeLast().start
            let length = UInt32(truncatingIfNeeded: bytes.count - start - 4)
            for index in 0..<4 {
                bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index)))
            }
        }
    }

    func key(_ key: String) {
        let number = numbers[key] ?? keys.count
        if number == keys.count {
            if key.utf8.count > BinaryLimit.key || !key.utf8.allSatisfy({ $0 < 0x80 }) {
                problem = "the key `\(key)`"
            }
            numbers[key] = number
            keys.append(key)
        }
        Self.count(UInt64(number), to: &bytes)
    }

    func null() { bytes.append(BinaryTag.null.rawValue) }

    func write(_ value: Bool) { bytes.append((value ? BinaryTag.yes : .no).rawValue) }

    func writeNumber(_ value: some FixedWidthInteger) {
        if value < 0 {
            bytes.append(BinaryTag.negative.rawValue)
            Self.count(UInt64(~Int64(value)), to: &bytes)
        } else {
            bytes.append(BinaryTag.number.rawValue)
            Self.count(UInt64(value), to: &bytes)
        }
    }

    /// Writes a number. Throws if it isn't finite, which decoders rely on.
    func write(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "no finite number"))
        }
        bytes.append(BinaryTag.float.rawValue)
        for index in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt64(index))))
        }
    }

    func write(_ value: String) {
        bytes.append(BinaryTag.text.rawValue)
        Self.text(value, to: &bytes)
    }

    func writeValue(_ value: some Encodable) throws {
        let (depth, start) = (depth, bytes.count)
        do {
            try value.encode(to: ValueEncoder(writer: self))
        } catch {
            problem = "\(error)"
            throw error
        }
        close(to: depth)
        // A value that writes nothing is encoded as an empty container.
        if bytes.count == start {
            _ = begin(.keyed)
            close(to: depth)
        }
    }

    /// Returns the encoded bytes: the table of keys, then the value.
    func finish() throws -> [UInt8] {
        close(to: 0)
        if keys.count > BinaryLimit.keys { problem = "\(keys.count) keys" }
        if bytes.count > UInt32.max { problem = "\(bytes.count) bytes" }
        if let problem {
            throw EncodingError.invalidValue(
                problem, .init(codingPath: [], debugDescription: "can't be written: \(problem)"))
        }
        var all: [UInt8] = []
        all.reserveCapacity(bytes.count + 16 * keys.count)
        Self.count(UInt64(keys.count), to: &all)
        for key in keys { Self.text(key, to: &all) }
        all += bytes
        return all
    }

    private static func text(_ value: String, to bytes: inout [UInt8]) {
        count(UInt64(value.utf8.count), to: &bytes)
        bytes.append(contentsOf: value.utf8)
    }

    /// Appends an unsigned number of variable length (LEB128).
    private static func count(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
