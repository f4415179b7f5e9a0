/// Parameter sets and other contents of an H.264 configuration record (`avcC`, ISO/IEC 14496-15).
package struct AVCHeaders: Hashable {
    /// Size of a NAL unit's length field in bytes.
    var lengthSize = 4
    /// Framing of NAL units in packets with these headers.
    private(set) var framing = NALFraming.startCodes
    /// Sequence parameter sets.
    var sequences: [[UInt8]] = []
    /// Picture parameter sets.
    var pictures: [[UInt8]] = []

    /// Parses `avcC`, or parameter sets with start codes; nil if they are malformed or incomplete.
    package init?(_ extradata: [UInt8]) {
        if extradata.first == 1 {
            guard let parsed = Self.record(extradata) else { return nil }
            self = parsed
        } else {
            let isWhole = extradata.withUnsafeBytes { bytes in
                NALFraming.startCodes.forEach(in: bytes) { unit in
                    switch unit[0] & 0x1f {
                    case 7: sequences.append(Array(unit))
                    case 8: pictures.append(Array(unit))
                    default: break
                    }
                }
            }
            guard isWhole else { return nil }
        }
        guard !sequences.isEmpty, !pictures.isEmpty, sequences.allSatisfy({ $0.count >= 4 }) else {
            return nil
        }
    }

    private init() {}

    private static func record(_ bytes: [UInt8]) -> AVCHeaders? {
        guard bytes.count >= 7 else { return nil }
        var headers = AVCHeaders()
        headers.lengthSize = Int(bytes[4] & 3) + 1
        headers.framing = .lengths(headers.lengthSize)
        var position = 6
        func sets(_ count: Int) -> [[UInt8]]? {
            var sets: [[UInt8]] = []
            for _ in 0..<count {
                guard position + 2 <= bytes.count else { return nil }
                let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
                guard length > 0, position + 2 + length <= bytes.count else { return nil }
                sets.append(Array(bytes[(position + 2)..<(position + 2 + length)]))
                position += 2 + length
            }
            return sets
        }
        guard let sequences = sets(Int(bytes[5] & 0x1f)), position < bytes.count else { return nil }
        let count = Int(bytes[position])
        position += 1
        guard let pictures = sets(count) else { return nil }
        headers.sequences = sequences
        headers.pictures = pictures
        return headers
    }

    /// IDs that sequence and picture parameter sets use; nil if a set can't be parsed.
    var takenIDs: Set<Int>? {
        var taken: Set<Int> = []
        for set in sequences {
            var bits = NALBits(set, skipping: 4)
            guard let id = bits.number() else { return nil }
            taken.insert(id)
        }
        for set in pictures {
            var bits = NALBits(set, skipping: 1)
            guard let id = bits.number() else { return nil }
            taken.insert(id)
        }
        return taken
    }

    /// Returns the parameter sets of both headers, those of `self` first.
    func joined(with other: AVCHeaders) -> AVCHeaders {
        var headers = self
        headers.sequences += other.sequences
        headers.pictures += other.pictures
        return headers
    }

    /// The highest level (`level_idc`) of the sequence parameter sets.
    var level: Int { sequences.map { Int($0[3]) }.max() ?? 0 }

    /// The headers as `avcC`, with the first set's profile and the highest level; nil if they can't be represented.
    package var configurationRecord: [UInt8]? {
        guard let first = sequences.first, sequences.count < 32, pictures.count < 256 else { return nil }
        var bytes: [UInt8] = [
            1, first[1], first[2], UInt8(clamping: level), 0xfc | UInt8(lengthSize - 1),
            0xe0 | UInt8(sequences.count),
        ]
        func add(_ sets: [[UInt8]]) -> Bool {
            for set in sets {
                guard set.count <= 0xffff else { return false }
                bytes += [UInt8(set.count >> 8), UInt8(set.count & 0xff)] + set
            }
            return true
        }
        guard add(sequences) else { return nil }
        bytes.append(UInt8(pictures.count))
        guard add(pictures) else { return nil }
        if [100, 110, 122, 244].contains(first[1]) {
            var bits = NALBits(first, skipping: 4)
            guard bits.number() != nil, let chroma = bits.number(), chroma <= 3 else { return nil }
            if chroma == 3 { _ = bits.bits(1) }
            guard let luma = bits.number(), let depth = bits.number(), luma <= 6, depth <= 6 else {
                return nil
            }
            bytes += [0xfc | UInt8(chroma), 0xf8 | UInt8(luma), 0xf8 | UInt8(depth), 0]
        }
        return bytes
    }
}
