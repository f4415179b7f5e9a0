/// The header of a FLAC frame (RFC 9639, 9.1).
struct FLACFrameHeader {
    /// Number of bytes of the coded frame or sample number.
    let numberSize: Int
    /// Offset of the header's checksum in bytes.
    let end: Int
    /// Samples per channel.
    let samples: Int
    /// Number of the frame, or of its first sample if `numbersSamples`.
    let number: Int64
    /// Whether the block size is variable, so that `number` counts samples.
    let numbersSamples: Bool

    /// Parses a frame header; nil if the bytes don't begin with one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 10, bytes[0] == 0xff, bytes[1] & 0xfe == 0xf8 else { return nil }
        numberSize = Self.numberSize(bytes[4])
        let (sizeCode, rateCode) = (bytes[2] >> 4, bytes[2] & 0x0f)
        let sizeBytes = sizeCode == 6 ? 1 : sizeCode == 7 ? 2 : 0
        let rateBytes = rateCode == 12 ? 1 : rateCode == 13 || rateCode == 14 ? 2 : 0
        end = 4 + numberSize + sizeBytes + rateBytes
        guard numberSize > 0, end + 3 <= bytes.count else { return nil }
        numbersSamples = bytes[1] & 1 == 1
        let head = numberSize == 1 ? Int64(bytes[4]) : Int64(bytes[4]) & (1 << Int64(7 - numberSize)) - 1
        number = bytes[5..<(4 + numberSize)].reduce(head) { $0 << 6 | Int64($1 & 0x3f) }
        switch sizeCode {
        case 1: samples = 192
        case 2...5: samples = 576 << Int(sizeCode - 2)
        case 6: samples = Int(bytes[4 + numberSize]) + 1
        case 7: samples = Int(bytes[4 + numberSize]) << 8 + Int(bytes[5 + numberSize]) + 1
        case 8...15: samples = 256 << Int(sizeCode - 8)
        default: return nil
        }
    }

    /// Returns the size of a coded number in bytes (UTF-8 extended to seven bytes); 0 if it is invalid.
    private static func numberSize(_ first: UInt8) -> Int {
        let ones = (~first).leadingZeroBitCount
        return ones == 0 ? 1 : ones == 1 || ones == 8 ? 0 : ones
    }
}
