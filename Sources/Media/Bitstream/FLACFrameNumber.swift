/// The number of a FLAC frame, and the checksums that depend on it (RFC 9639, 9.1.5, 9.1.8, 9.3).
enum FLACFrameNumber {
    /// Returns a frame with another number, in the form that the frame uses (frames or samples).
    static func replaced(
        in bytes: UnsafeRawBufferPointer, _ header: FLACFrameHeader, by number: UInt64
    ) -> [UInt8] {
        let (numberSize, end) = (header.numberSize, header.end)
        var frame: [UInt8] = []
        frame.reserveCapacity(bytes.count + 6)
        frame += bytes[0..<4]
        frame += coded(number)
        frame += bytes[(4 + numberSize)..<end]
        frame.append(check8(frame))
        // Only the header differs, and the checksum is linear: its difference is that of the headers, moved by the rest of
        // the frame. The checksum of a damaged frame thus stays wrong.
        let body = bytes[(end + 1)..<(bytes.count - 2)]
        let difference = check16(frame) ^ check16(bytes[0...end])
        let check =
            (UInt16(bytes[bytes.count - 2]) << 8 | UInt16(bytes[bytes.count - 1]))
            ^ moved(difference, by: body.count)
        frame += body
        frame += [UInt8(check >> 8), UInt8(check & 0xff)]
        return frame
    }

    /// Encodes a number like UTF-8, with up to seven bytes.
    private static func coded(_ value: UInt64) -> [UInt8] {
        if value < 0x80 { return [UInt8(value)] }
        var size = 2
        while size < 7, value >> UInt64(5 * size + 1) != 0 { size += 1 }
        var bytes = (0..<size).reversed().map {
            0x80 | UInt8(truncatingIfNeeded: value >> UInt64(6 * $0)) & 0x3f
        }
        let mark = UInt8(truncatingIfNeeded: 0xff00 >> size)
        let room: UInt8 = size >= 7 ? 0 : UInt8(0x7f >> size)
        bytes[0] = mark | UInt8(truncatingIfNeeded: value >> UInt64(6 * (size - 1))) & room
        return bytes
    }

    private static func check8(_ bytes: [UInt8]) -> UInt8 {
        var sum: UInt8 = 0
        for byte in bytes {
            sum ^= byte
            for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x80 == 0 ? 0 : 0x07) }
        }
        return sum
    }

    private static let table16: [UInt16] = (0..<256).map { index in
        var sum = UInt16(index) << 8
        for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x8000 == 0 ? 0 : 0x8005) }
        return sum
    }

    /// Returns the checksum of bytes with the checksum `sum`, followed by `count` zeros: the product with x^(8 × count).
    private static func moved(_ sum: UInt16, by count: Int) -> UInt16 {
        var (power, factor, rest): (UInt16, UInt16, Int) = (1, 0x0100, count)
        while rest > 0 {
            if rest & 1 == 1 { power = product(power, factor) }
            factor = product(factor, factor)
            rest >>= 1
        }
        return product(sum, power)
    }

    /// Returns the product of two polynomials modulo the checksum's polynomial.
    private static func product(_ one: UInt16, _ other: UInt16) -> UInt16 {
        var result: UInt16 = 0
        for bit in (0..<16).reversed() {
            result = result << 1 ^ (result & 0x8000 == 0 ? 0 : 0x8005)
            if other >> UInt16(bit) & 1 == 1 { result ^= one }
        }
        return result
    }

    private static func check16(_ bytes: some Sequence<UInt8>) -> UInt16 {
        let table = table16
        var sum: UInt16 = 0
        for byte in bytes { sum = sum << 8 ^ table[Int(UInt8(sum >> 8) ^ byte)] }
        return sum
    }
}
