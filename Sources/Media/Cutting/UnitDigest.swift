/// A hash of consecutive bytes, to compare packets: FNV-1a on eight bytes at a time, for speed, because all packets
/// of a copy are hashed twice. Not persistent.
struct UnitDigest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ word: UInt64) {
        // Shifts the upper bits down for the next multiplication.
        value = (value ^ word) &* 0x100_0000_01b3
        value ^= value >> 32
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest = UInt64(bytes.count) << 56
        while offset < bytes.count {
            rest = rest << 8 ^ UInt64(bytes[offset])
            offset += 1
        }
        add(rest)
    }
}
