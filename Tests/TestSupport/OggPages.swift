/// The pages of an Ogg file, whose positions a test changes.
public struct OggPages {
    /// One page as it stands in the file.
    public struct Page {
        /// Which track it belongs to.
        public let serial: UInt32
        /// The sample or frame with which its last packet ends, as the container says; -1 where none ends.
        public var position: Int64
        /// It is the track's last one.
        public let isLast: Bool
        fileprivate var bytes: [UInt8]
    }

    /// In the file's order.
    public var pages: [Page] = []

    /// Takes a file apart that ffmpeg wrote.
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

    /// The file, with checksums that fit.
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
