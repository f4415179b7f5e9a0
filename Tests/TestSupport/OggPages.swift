/// The pages of an Ogg file, with modifiable granule positions.
public struct OggPages {
    /// A page and its header fields.
    public struct Page {
        /// Serial number of the logical bitstream.
        public let serial: UInt32
        /// Granule position: the sample or frame at which the page's last packet ends; -1 if no packet ends in it.
        public var position: Int64
        /// Whether the page is the last one of its logical bitstream.
        public let isLast: Bool
        fileprivate var bytes: [UInt8]
    }

    /// Pages in file order.
    public var pages: [Page] = []

    /// Parses the contents of a file written by ffmpeg.
    public init(_ file: [UInt8]) {
        var at = 0
        while at + 27 <= file.count {
            let count = Int(file[at + 26])
            let size = 27 + count + file[(at + 27)..<(at + 27 + count)].reduce(0) { $0 + Int($1) }
            let bytes = Array(file[at..<(at + size)])
            let position = (6..<14).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[$1]) }
            let serial = (14..<18).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[$1]) }
            pages.append(
                Page(
                    serial: serial, position: Int64(bitPattern: position), isLast: bytes[5] & 4 != 0,
                    bytes: bytes))
            at += size
        }
    }

    /// Contents of the file, with updated checksums.
    public var bytes: [UInt8] {
        pages.flatMap { page in
            var bytes = page.bytes
            for i in 0..<8 { bytes[6 + i] = UInt8(truncatingIfNeeded: page.position >> (8 * Int64(i))) }
            for i in 22..<26 { bytes[i] = 0 }
            var crc: UInt32 = 0
            for byte in bytes {
                crc ^= UInt32(byte) << 24
                for _ in 0..<8 { crc = crc >> 31 == 1 ? crc << 1 ^ 0x04c1_1db7 : crc << 1 }
            }
            for i in 0..<4 { bytes[22 + i] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(i))) }
            return bytes
        }
    }
}
