internal import LibAV

/// Reader of a Matroska segment's size, to detect truncated files, which libavformat reads without an error.
enum MatroskaInspector {
    /// Returns the end of the segment as a byte offset; nil if the file doesn't declare it (live streams) or can't be
    /// read.
    static func segmentEnd(of source: any ByteSource) -> Int64? {
        let count = Int(min(4096, source.size))
        guard count > 16, let bytes = source.bytes(at: 0, count) else { return nil }
        var at = 0
        // The EBML header, optional void elements, then the segment.
        for _ in 0..<8 {
            guard let id = number(bytes, count, &at, keepsMarker: true),
                let size = number(bytes, count, &at, keepsMarker: false)
            else { return nil }
            if id.value == 0x1853_8067 { return size.isUnknown ? nil : Int64(at) + size.value }
            guard !size.isUnknown, size.value < 4096 else { return nil }
            at += Int(size.value)
        }
        return nil
    }

    /// Reads a variable-length EBML number; the leading zeros of the first byte give its length.
    private static func number(
        _ bytes: [UInt8], _ count: Int, _ at: inout Int, keepsMarker: Bool
    ) -> (value: Int64, isUnknown: Bool)? {
        guard at < count, bytes[at] != 0 else { return nil }
        let length = bytes[at].leadingZeroBitCount + 1
        guard at + length <= count else { return nil }
        var value = Int64(keepsMarker ? bytes[at] : bytes[at] & (0xff >> UInt8(length)))
        var isUnknown = !keepsMarker && value == Int64(0xff >> UInt8(length))
        for i in 1..<max(1, length) {
            value = value << 8 | Int64(bytes[at + i])
            isUnknown = isUnknown && bytes[at + i] == 0xff
        }
        at += length
        return (value, isUnknown)
    }
}
