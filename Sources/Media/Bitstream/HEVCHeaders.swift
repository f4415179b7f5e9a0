/// Parameter sets and other contents of an HEVC configuration record (`hvcC`, ISO/IEC 14496-15).
package struct HEVCHeaders: Hashable {
    /// Size of a NAL unit's length field in bytes.
    let lengthSize: Int
    /// Video, sequence and picture parameter sets, in the required order.
    let sets: [[UInt8]]
    /// The record with `array_completeness` cleared: packets may contain more parameter sets.
    package let configurationRecord: [UInt8]
    /// Framing of NAL units in packets with these headers.
    let framing: NALFraming

    /// The record with `array_completeness` set: packets contain no other parameter sets.
    var completeRecord: [UInt8] {
        var record = configurationRecord
        var position = 23
        for _ in 0..<(record.count > 22 ? record[22] : 0) {
            guard position + 3 <= record.count else { break }
            if (32...34).contains(record[position] & 0x3f) { record[position] |= 0x80 }
            let count = Int(record[position + 1]) << 8 | Int(record[position + 2])
            position += 3
            for _ in 0..<count where position + 2 <= record.count {
                position += 2 + (Int(record[position]) << 8 | Int(record[position + 1]))
            }
        }
        return record
    }

    /// Parses `hvcC`, or parameter sets with start codes; nil if they are malformed or incomplete.
    package init?(_ extradata: [UInt8]) {
        if extradata.first == 1 {
            self.init(record: extradata)
        } else {
            self.init(startCodes: extradata)
        }
    }

    private init?(startCodes extradata: [UInt8]) {
        var byType: [UInt8: [[UInt8]]] = [:]
        let isWhole = extradata.withUnsafeBytes { bytes in
            NALFraming.startCodes.forEach(in: bytes) { unit in
                let (type, set) = (unit[0] >> 1 & 0x3f, Array(unit))
                guard (32...34).contains(type), unit.count > 2, byType[type]?.contains(set) != true else {
                    return
                }
                byType[type, default: []].append(set)
            }
        }
        guard isWhole, let sequence = byType[33]?.first, byType[34] != nil,
            let record = Self.record(byType, of: sequence)
        else { return nil }
        lengthSize = 4
        framing = .startCodes
        sets = [32, 33, 34].flatMap { byType[$0] ?? [] }
        configurationRecord = record
    }

    /// Returns a record with all parameter sets, and with profile, level and chroma format of `sequence`; nil if that
    /// can't be parsed.
    private static func record(_ byType: [UInt8: [[UInt8]]], of sequence: [UInt8]) -> [UInt8]? {
        var bits = NALBits(sequence, skipping: 2, maxBytes: 256)
        guard bits.bits(4) != nil, let layers = bits.bits(3), layers < 7, let isNested = bits.bits(1) else {
            return nil
        }
        var record: [UInt8] = [1]
        // General profile, tier, compatibility, constraints and level have the same layout as in the record.
        for _ in 0..<12 {
            guard let byte = bits.bits(8) else { return nil }
            record.append(UInt8(byte))
        }
        var lengths: [Int] = []
        for _ in 0..<layers {
            guard let hasProfile = bits.bits(1), let hasLevel = bits.bits(1) else { return nil }
            lengths.append(88 * hasProfile + 8 * hasLevel)
        }
        guard layers == 0 || bits.bits(2 * (8 - layers)) != nil else { return nil }
        for length in lengths {
            for _ in 0..<(length / 8) where bits.bits(8) == nil { return nil }
        }
        guard bits.number() != nil, let chroma = bits.number(), chroma <= 3 else { return nil }
        if chroma == 3, bits.bits(1) == nil { return nil }
        guard bits.number() != nil, bits.number() != nil, let isCropped = bits.bits(1) else { return nil }
        for _ in 0..<(4 * isCropped) where bits.number() == nil { return nil }
        guard let luma = bits.number(), let depth = bits.number(), luma <= 7, depth <= 7 else { return nil }
        // Segmentation, parallelism and frame rate are unspecified; lengths have 4 bytes.
        record += [0xf0, 0, 0xfc, 0xfc | UInt8(chroma), 0xf8 | UInt8(luma), 0xf8 | UInt8(depth), 0, 0]
        record += [UInt8(layers + 1) << 3 | UInt8(isNested) << 2 | 3]
        let types = byType.keys.sorted()
        record.append(UInt8(types.count))
        for type in types {
            let sets = byType[type] ?? []
            guard sets.count <= 0xff, sets.allSatisfy({ $0.count <= 0xffff }) else { return nil }
            record += [type, 0, UInt8(sets.count)]
            for set in sets { record += [UInt8(set.count >> 8), UInt8(set.count & 0xff)] + set }
        }
        return record
    }

    private init?(record extradata: [UInt8]) {
        guard extradata.count > 23 else { return nil }
        var record = extradata
        lengthSize = Int(extradata[21] & 3) + 1
        framing = .lengths(lengthSize)
        var byType: [UInt8: [[UInt8]]] = [:]
        var position = 23
        for _ in 0..<extradata[22] {
            guard position + 3 <= extradata.count else { return nil }
            let type = extradata[position] & 0x3f
            // Clears `array_completeness`.
            record[position] &= 0x7f
            let count = Int(extradata[position + 1]) << 8 | Int(extradata[position + 2])
            position += 3
            for _ in 0..<count {
                guard position + 2 <= extradata.count else { return nil }
                let length = Int(extradata[position]) << 8 | Int(extradata[position + 1])
                guard length > 2, position + 2 + length <= extradata.count else { return nil }
                byType[type, default: []].append(
                    Array(extradata[(position + 2)..<(position + 2 + length)]))
                position += 2 + length
            }
        }
        sets = [32, 33, 34].flatMap { byType[$0] ?? [] }
        guard byType[33] != nil, byType[34] != nil else { return nil }
        configurationRecord = record
    }
}
