/// Rewriter of the first bits of an H.264 NAL unit. Positions are in bits after the first byte, without emulation
/// prevention bytes. Later bytes are copied unchanged unless they must be shifted by bits.
struct NALRewriter {
    /// The bytes of the unit before `split`, without emulation prevention bytes.
    private var beginning: [UInt8] = []
    private let unit: [UInt8]
    /// Index in `unit` of the first byte that `beginning` doesn't contain.
    private var split: Int

    /// Creates a rewriter; bits up to `end` may change.
    init(_ unit: some Collection<UInt8>, through end: Int) {
        self.unit = Array(unit)
        split = self.unit.count
        let needed = 1 + (end + 7) / 8
        var zeros = 0
        for (index, byte) in self.unit.enumerated() {
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            beginning.append(byte)
            // After a nonzero byte, emulation prevention doesn't depend on earlier bytes.
            if beginning.count > needed, byte != 0 {
                split = index + 1
                break
            }
        }
    }

    /// Changes the unit's type to a slice of an IDR frame.
    mutating func convertToIDR() { beginning[0] = beginning[0] & 0xe0 | 5 }

    /// Replaces `count` bits with a number.
    mutating func replace(_ position: Int, count: Int, with value: Int) {
        for bit in 0..<count {
            let at = 8 + position + bit
            let mask = UInt8(0x80) >> UInt8(at & 7)
            if value >> (count - 1 - bit) & 1 == 1 {
                beginning[at >> 3] |= mask
            } else {
                beginning[at >> 3] &= ~mask
            }
        }
    }

    /// Subtracts a value from a number of `count` bits, modulo its range.
    mutating func subtract(_ value: Int, at position: Int, count: Int) {
        var number = 0
        for bit in 0..<count { number = number << 1 | Int(self.bit(position + bit)) }
        replace(position, count: count, with: (number - value) & (1 << count - 1))
    }

    /// Replaces ranges of bits in a slice header, in ascending order. If `isAligned`, the slice data begins at a byte
    /// boundary (CABAC). Otherwise the data is shifted by as many bits as the header grows; whole bytes are preferable,
    /// because PCM macroblocks are byte-aligned.
    mutating func splice(_ changes: [(range: Range<Int>, bits: [UInt8])], headerEnd: Int, isAligned: Bool) {
        var header: [UInt8] = []
        var position = 0
        for change in changes {
            header += (position..<change.range.lowerBound).map(bit) + change.bits
            position = change.range.upperBound
        }
        header += (position..<headerEnd).map(bit)
        let nextByte = (headerEnd + 7) / 8
        if isAligned {
            while header.count % 8 != 0 { header.append(1) }
        } else if (header.count - headerEnd) % 8 == 0 {
            header += (headerEnd..<nextByte * 8).map(bit)
        } else {
            beginning += NALBits.payload(unit[split...])
            split = unit.count
            header += (headerEnd..<(beginning.count - 1) * 8).map(bit)
            // The last 1 bit is the stop bit; only padding follows it.
            while header.last == 0 { header.removeLast() }
            while header.count % 8 != 0 { header.append(0) }
            beginning = [beginning[0]] + Self.packed(header)
            return
        }
        beginning = [beginning[0]] + Self.packed(header) + beginning[(1 + nextByte)...]
    }

    /// The changed unit, with emulation prevention bytes.
    var finished: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(unit.count + 16)
        var zeros = 0
        for byte in beginning {
            if zeros >= 2, byte <= 3 {
                result.append(3)
                zeros = 0
            }
            result.append(byte)
            zeros = byte == 0 ? zeros + 1 : 0
        }
        // Trailing zeros could be parsed as part of the next start code.
        if split == unit.count, result.last == 0 { result.append(3) }
        return result + unit[split...]
    }

    /// Returns the bits of an unsigned Exp-Golomb number.
    static func number(_ value: Int) -> [UInt8] {
        let written = value + 1
        let length = Int.bitWidth - written.leadingZeroBitCount
        return [UInt8](repeating: 0, count: length - 1)
            + (0..<length).reversed().map { UInt8(written >> $0 & 1) }
    }

    private func bit(_ position: Int) -> UInt8 {
        let at = 8 + position
        return beginning[at >> 3] >> (7 - UInt8(at & 7)) & 1
    }

    private static func packed(_ bits: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
        }
    }
}
