/// A digest of bytes that come one after the other, for telling whether two packets are the same: FNV-1a's steps, of eight bytes at a time,
/// since all of a copy goes through it twice. It is kept nowhere.
struct UnitDigest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ word: UInt64) {
        // What a multiplication leaves in the upper bits comes down for the next word.
        value = (value ^ word) &* 0x100_0000_01b3
        value ^= value >> 32
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while place + 8 <= bytes.count {
            add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest = UInt64(bytes.count) << 56
        while place < bytes.count {
            rest = rest << 8 ^ UInt64(bytes[place])
            place += 1
        }
        add(rest)
    }
}
