/// The STREAMINFO block of a FLAC stream (RFC 9639, 8.2), which is also the codec's extradata.
struct FLACStreamInfo {
    /// The block's bytes.
    private(set) var bytes: [UInt8]

    static let size = 34

    /// Creates a value from a block; nil unless it has 34 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }

    /// Size of the smallest frame in bytes; 0 if unknown.
    var smallestFrame: Int {
        get { bytes[4..<7].reduce(0) { $0 << 8 | Int($1) } }
        set { setFrameSize(newValue, at: 4) }
    }

    /// Size of the largest frame in bytes; 0 if unknown.
    var largestFrame: Int {
        get { bytes[7..<10].reduce(0) { $0 << 8 | Int($1) } }
        set { setFrameSize(newValue, at: 7) }
    }

    private mutating func setFrameSize(_ size: Int, at offset: Int) {
        for index in 0..<3 { bytes[offset + index] = UInt8(truncatingIfNeeded: size >> (8 * (2 - index))) }
    }

    /// Number of bits of a sample.
    var bitsPerSample: Int { (Int(bytes[12] & 1) << 4 | Int(bytes[13] >> 4)) + 1 }

    /// Number of samples per channel, a number of 36 bits; 0 if unknown.
    var samples: UInt64 {
        get { bytes[14..<18].reduce(UInt64(bytes[13] & 0x0f)) { $0 << 8 | UInt64($1) } }
        set {
            bytes[13] = bytes[13] & 0xf0 | UInt8(truncatingIfNeeded: newValue >> 32) & 0x0f
            for index in 0..<4 {
                bytes[14 + index] = UInt8(truncatingIfNeeded: newValue >> (8 * UInt64(3 - index)))
            }
        }
    }

    /// MD5 of the samples, interleaved as little-endian integers; zeros if unknown.
    var checksum: [UInt8] {
        get { Array(bytes[18..<34]) }
        set { for index in 0..<16 { bytes[18 + index] = index < newValue.count ? newValue[index] : 0 } }
    }
}
