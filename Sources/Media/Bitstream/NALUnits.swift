/// Framing of the NAL units of H.264 and HEVC in a packet.
enum NALFraming: Hashable, Sendable {
    /// A length field of this many bytes before each unit (mp4, Matroska).
    case lengths(Int)
    /// A start code before each unit (transport and raw streams, encoders).
    case startCodes

    /// Calls `body` for each unit, without length or start code, until `goesOn` returns false. Returns false for a
    /// malformed packet.
    func forEach(
        in bytes: UnsafeRawBufferPointer, while goesOn: () -> Bool = { true },
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        switch self {
        case .lengths(let size): try Self.byLength(bytes, size, goesOn, body)
        case .startCodes: try Self.byStartCode(bytes, goesOn, body)
        }
    }

    private static func byLength(
        _ bytes: UnsafeRawBufferPointer, _ size: Int, _ goesOn: () -> Bool,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        var position = 0
        while position < bytes.count, goesOn() {
            guard bytes.count - position >= size else { return false }
            var length = 0
            for offset in 0..<size { length = length << 8 | Int(bytes[position + offset]) }
            position += size
            guard length > 0, length <= bytes.count - position else { return false }
            try body(UnsafeRawBufferPointer(rebasing: bytes[position..<(position + length)]))
            position += length
        }
        return true
    }

    private static func byStartCode(
        _ bytes: UnsafeRawBufferPointer, _ goesOn: () -> Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        /// Returns the position of the next `00 00 01`.
        func next(_ from: Int) -> Int? {
            var position = from
            while position + 2 < bytes.count {
                if bytes[position + 2] > 1 {
                    position += 3
                } else if bytes[position] == 0, bytes[position + 1] == 0, bytes[position + 2] == 1 {
                    return position
                } else {
                    position += 1
                }
            }
            return nil
        }
        guard var start = next(0) else { return false }
        while goesOn() {
            let following = next(start + 3)
            var end = following ?? bytes.count
            // Zeros before a start code are padding.
            while end > start + 3, bytes[end - 1] == 0 { end -= 1 }
            if end > start + 3 { try body(UnsafeRawBufferPointer(rebasing: bytes[(start + 3)..<end])) }
            guard let following else { return true }
            start = following
        }
        return true
    }
}

/// Reader of bits and Exp-Golomb numbers of a NAL unit, without emulation prevention bytes.
struct NALBits {
    private let bytes: [UInt8]
    /// Position of the next bit, counted from the end of the unit's header.
    private(set) var position = 0

    /// Creates a reader of at most `maxBytes` bytes after the unit's header, whose size is `header` bytes.
    init(_ unit: some Collection<UInt8>, skipping header: Int, maxBytes: Int = 64) {
        bytes = Self.payload(unit.dropFirst(header).prefix(maxBytes))
    }

    /// Returns the bytes without emulation prevention bytes.
    static func payload(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var zeros = 0
        for byte in bytes {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            result.append(byte)
        }
        return result
    }

    mutating func bits(_ count: Int) -> Int? {
        guard position + count <= bytes.count * 8 else { return nil }
        var value = 0
        for _ in 0..<count {
            value = value << 1 | Int(bytes[position >> 3] >> (7 - UInt8(position & 7)) & 1)
            position += 1
        }
        return value
    }

    /// Reads an unsigned Exp-Golomb number; nil at the end of the data.
    mutating func number() -> Int? {
        var zeros = 0
        while let bit = bits(1) {
            if bit == 1 { return bits(zeros).map { $0 + (1 << zeros) - 1 } }
            zeros += 1
            if zeros > 31 { return nil }
        }
        return nil
    }

    /// Reads a signed Exp-Golomb number; nil at the end of the data.
    mutating func signedNumber() -> Int? {
        number().map { $0 & 1 == 1 ? ($0 + 1) / 2 : -($0 / 2) }
    }
}
