/// The tags of values, the first byte of each.
enum BinaryTag: UInt8 {
    case null, no, yes
    /// A number from 0.
    case number
    /// A number below 0, as its distance from -1.
    case negative
    case float
    case text
    /// Members, preceded by their length in bytes: for each the number of its key, and a value.
    case keyed
    /// Members, preceded by their length in bytes.
    case list
}

/// The limits of both encoder and decoder.
enum BinaryLimit {
    /// Maximum number of keys of all containers together.
    static let keys = 4096
    /// Maximum length of a key in bytes.
    static let key = 256
}

/// The bytes of values as they are written. Writing outside of open containers closes them.
final class BinaryWriter {
    /// An open container.
    struct Container {
        /// Number of open containers, including this one.
        var depth: Int
        /// Number that distinguishes the container from others that were open at the same depth.
        var number: Int
    }

    let userInfo: [CodingUserInfoKey: any Sendable]
    /// Reason why the output can't be decoded; nil if it can.
    var problem: String?
    private var bytes: [UInt8] = []
    private var numbers: [String: Int] = [:]
    private var keys: [String] = []
    /// Positions of the open containers' lengths, with the containers' numbers.
    private var open: [(start: Int, number: Int)] = []
    private var containers = 0

    init(userInfo: [CodingUserInfoKey: any Sendable]) {
        self.userInfo = userInfo
        bytes.reserveCapacity(4096)
    }

    /// Number of open containers.
    var depth: Int { open.count }

    /// Opens a container.
    func begin(_ tag: BinaryTag) -> Container {
        bytes.append(tag.rawValue)
        containers += 1
        open.append((bytes.count, containers))
        bytes.append(contentsOf: [0, 0, 0, 0])
        return Container(depth: open.count, number: containers)
    }

    /// Continues a container, and closes those inside it.
    func resume(_ container: Container) {
        close(to: container.depth)
        if open.last?.number != container.number { problem = "two containers are written in turns" }
    }

    /// Closes all containers but the given number.
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

    /// Writes a number, which must be finite. Decoders may rely on that.
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

    /// Returns the table of keys and the value.
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

    /// Appends a number with seven bits per byte, the low ones first.
    private static func count(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
