public import Foundation

/// A generator of H.264 with field pairs, which no available encoder supports: 16x32 pixels at 25 frames/s, open GOPs
/// of 12 frames with two B-frames between the others, I_PCM macroblocks with noise, and memory management operations.
public struct FieldStream {
    private var seed: UInt64 = 7
    /// Frames in decoding order, with their number in presentation order and their NAL units.
    public private(set) var pictures: [(frame: Int, isKey: Bool, units: [[UInt8]])] = []
    private let sequence: [UInt8]
    private let parameters: [UInt8]

    /// Creates `count` frames, of which two are not shown; `count` must be a multiple of 3. With
    /// `hasLeadingReferences`, the first leading frame of each GOP is a reference, until the reference buffer is full.
    public init(count: Int, hasLeadingReferences: Bool = false) {
        var sps = Bits()
        // Main profile, level 3, 4 bits for frame_num, 6 bits for picture order count, fields allowed, at most one
        // reordered frame.
        sps.put([(8, 77), (8, 0), (8, 30)])
        sps.numbers(0, 0, 0, 2, 4)
        sps.put([(1, 0)])
        sps.numbers(0, 0)
        sps.put([(1, 0), (1, 0), (1, 1), (1, 0), (1, 1)])
        sps.put([(5, 1), (32, 1), (32, 50), (1, 1), (3, 0), (1, 1), (1, 1)])
        sps.numbers(0, 0, 9, 9, 1, 4)
        sequence = sps.unit(0x67)
        var pps = Bits()
        pps.numbers(0, 0)
        pps.put([(2, 0)])
        pps.numbers(0, 0, 0)
        pps.put([(3, 0)])
        pps.numbers(0, 0, 0)
        pps.put([(3, 0)])
        parameters = pps.unit(0x68)
        var recovery = Bits()
        recovery.put([(8, 6), (8, 1), (1, 1), (1, 1), (3, 0), (3, 4)])

        var (number, wasReference, sinceKey) = (0, false, 0)
        let order = [0] + stride(from: 3, to: count, by: 3).flatMap { [$0, $0 - 2, $0 - 1] }
        for frame in order {
            if wasReference { number += 1 }
            wasReference = frame % 3 == 0
            let isKey = frame % 12 == 0

            if isKey {
                let units = [
                    field(.i, number, 2 * frame, isReference: true, isIDR: frame == 0),
                    field(.p, number, 2 * frame + 1, isReference: true),
                ]
                let sets = [sequence, parameters] + (frame > 0 ? [recovery.unit(0x06)] : [])
                pictures.append((frame, true, sets + units))
                sinceKey = 0
            } else if wasReference {
                sinceKey += 1
                // Both fields of the frame before the keyframe are marked as unused.
                let gone = sinceKey == 1 && number > 3 ? [3, 4] : []
                pictures.append(
                    (
                        frame, false,
                        [
                            field(
                                .p, number, 2 * frame, isReference: true, isSkipped: !gone.isEmpty, gone: gone
                            ),
                            field(.p, number, 2 * frame + 1, isReference: true, isSkipped: frame % 2 == 0),
                        ]
                    ))
            } else {
                wasReference = hasLeadingReferences && frame % 12 == 10
                let first = field(
                    .b, number, 2 * frame, isReference: wasReference, isSkipped: frame % 3 == 1)
                let second = field(.b, number, 2 * frame + 1, isReference: wasReference)
                pictures.append((frame, false, [first, second]))
            }
        }
    }

    /// Returns the elementary stream, with start codes.
    public func elementary() -> Data {
        Data(
            pictures.flatMap { picture in
                ([[9, 0xf0]] + picture.units).flatMap { [0, 0, 0, 1] + $0 } as [UInt8]
            })
    }

    /// Returns a Matroska file, with one block per frame.
    public func matroska() -> Data {
        var record: [UInt8] = [
            1, sequence[1], sequence[2], sequence[3], 0xff, 0xe1, 0, UInt8(sequence.count),
        ]
        record += sequence
        record += [1, 0, UInt8(parameters.count)]
        record += parameters
        var kind = number(0x4286, 1) + number(0x42f7, 1)
        kind += number(0x42f2, 4) + number(0x42f3, 8)
        kind += element(0x4282, Array("matroska".utf8))
        kind += number(0x4287, 4) + number(0x4285, 2)
        var track = number(0xd7, 1) + number(0x73c5, 1)
        track += number(0x83, 1) + element(0x86, Array("V_MPEG4/ISO/AVC".utf8))
        track += number(0x23_e383, 40_000_000) + element(0x63a2, record)
        track += element(0xe0, number(0xb0, 16) + number(0xba, 32))
        var cluster = number(0xe7, 0)
        for picture in pictures {
            let time = picture.frame * 40
            var block: [UInt8] = [0x81, UInt8(time >> 8), UInt8(time & 0xff), picture.isKey ? 0x80 : 0]
            for unit in picture.units {
                block += [0, 0, UInt8(unit.count >> 8), UInt8(unit.count & 0xff)]
                block += unit
            }
            cluster += element(0xa3, block)
        }
        var segment = element(0x1549_a966, number(0x2a_d7b1, 1_000_000))
        segment += element(0x1654_ae6b, element(0xae, track))
        segment += element(0x1f43_b675, cluster)
        return Data(element(0x1a45_dfa3, kind) + element(0x1853_8067, segment))
    }

    private func element(_ id: Int, _ content: [UInt8]) -> [UInt8] {
        var result = (0..<4).reversed().map { UInt8(id >> (8 * $0) & 0xff) }
        result = Array(result.drop { $0 == 0 })
        result.append(1)
        result += (0..<7).reversed().map { UInt8(content.count >> (8 * $0) & 0xff) }
        return result + content
    }

    private func number(_ id: Int, _ value: Int) -> [UInt8] {
        element(id, (0..<4).reversed().map { UInt8(value >> (8 * $0) & 0xff) })
    }

    private enum Kind: Int {
        case p = 5
        case b = 6
        case i = 7
    }

    /// Returns a slice with one macroblock. `gone` contains operations that mark short-term references as unused.
    private mutating func field(
        _ kind: Kind, _ number: Int, _ order: Int, isReference: Bool, isIDR: Bool = false,
        isSkipped: Bool = false, gone: [Int] = []
    ) -> [UInt8] {
        var bits = Bits()
        bits.numbers(0, kind.rawValue, 0)
        bits.put([(4, number % 16), (1, 1), (1, order % 2)])
        if isIDR { bits.numbers(0) }
        bits.put([(6, order % 64)])
        if kind == .b { bits.put([(4, 8)]) } else if kind == .p { bits.put([(2, 0)]) }
        if isReference {
            if isIDR {
                bits.put([(2, 0)])
            } else {
                bits.put([(1, gone.isEmpty ? 0 : 1)])
                for value in gone { bits.numbers(1, value) }
                if !gone.isEmpty { bits.numbers(0) }
            }
        }
        bits.numbers(0)
        if isSkipped {
            bits.numbers(1)
        } else {
            if kind != .i { bits.numbers(0) }
            bits.numbers([.p: 30, .b: 48, .i: 25][kind] ?? 0)
            bits.align()
            let level = 16 + random(180)
            for sample in 0..<384 { bits.put([(8, sample < 256 ? level + random(40) : 90 + level % 50)]) }
        }
        return bits.unit((isReference ? 0x60 : 0) | (isIDR ? 5 : 1))
    }

    private mutating func random(_ below: Int) -> Int {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(seed >> 33) % below
    }

    private struct Bits {
        var bits: [UInt8] = []

        /// Appends numbers with the given bit counts.
        mutating func put(_ numbers: [(count: Int, value: Int)]) {
            for (count, value) in numbers {
                bits += (0..<count).reversed().map { UInt8(value >> $0 & 1) }
            }
        }

        /// Appends Exp-Golomb numbers.
        mutating func numbers(_ values: Int...) {
            for value in values {
                let length = Int.bitWidth - (value + 1).leadingZeroBitCount
                put([(length - 1, 0), (length, value + 1)])
            }
        }

        mutating func align() { while bits.count % 8 != 0 { bits.append(0) } }

        /// Returns the NAL unit, with trailing bits and emulation prevention bytes.
        func unit(_ header: UInt8) -> [UInt8] {
            var whole = self
            whole.bits.append(1)
            whole.align()
            var result = [header]
            var zeros = 0
            for start in stride(from: 0, to: whole.bits.count, by: 8) {
                let byte = whole.bits[start..<(start + 8)].reduce(0) { $0 << 1 | $1 }
                if zeros >= 2, byte <= 3 {
                    result.append(3)
                    zeros = 0
                }
                result.append(byte)
                zeros = byte == 0 ? zeros + 1 : 0
            }
            return result
        }
    }
}
