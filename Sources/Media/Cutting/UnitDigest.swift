/// Hash of consecutive bytes for comparing packets. It is FNV-1a with words of eight bytes, for speed: all packets of a
/// copy are hashed twice.
struct UnitDigest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ word: UInt64) {
        // Moves the upper bits down, so that the next multiplication mixes them.
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
