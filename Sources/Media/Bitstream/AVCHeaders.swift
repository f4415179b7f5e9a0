/// Parameter sets of H.264 with what the container says beside them (`avcC`, ISO/IEC 14496-15).
struct AVCHeaders: Hashable {
    /// Bytes of a unit's length.
    var lengthSize = 4
    /// How the units of packets stand beside such headers.
    private(set) var framing = NALFraming.startCodes
    /// Sequence parameter sets.
    var sequences: [[UInt8]] = []
    /// Picture parameter sets.
    var pictures: [[UInt8]] = []

    /// Reads `avcC`, or parameter sets behind start codes.
    init?(_ extradata: [UInt8]) {
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

    /// Ids that sequence or picture parameter sets have taken; nil where they can't be read.
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

    /// Both, the own ones first.
    func joined(with other: AVCHeaders) -> AVCHeaders {
        var headers = self
        headers.sequences += other.sequences
        headers.pictures += other.pictures
        return headers
    }

    /// The highest level of any.
    var level: Int { sequences.map { Int($0[3]) }.max() ?? 0 }

    /// As `avcC`, of the first set's profile and the highest level. Nil where it can't be said.
    var configurationRecord: [UInt8]? {
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
