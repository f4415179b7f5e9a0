/// A generator of MPEG transport streams with one track of DVB subtitles.
public struct TransportStream {
    /// Packets written so far.
    public private(set) var bytes: [UInt8] = []
    private var counters: [UInt16: UInt8] = [:]
    private static let (tablePID, streamPID): (UInt16, UInt16) = (0x1000, 0x100)

    /// Creates a stream that starts with PAT and PMT.
    public init() {
        section(0, [0x00, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xf0, 0x00])
        // Private data with the subtitling descriptor.
        let descriptor: [UInt8] = [0x59, 8] + Array("eng".utf8) + [0x10, 0, 1, 0, 1]
        section(
            Self.tablePID,
            [0x02, 0xb0, 28, 0, 1, 0xc1, 0, 0, 0xe1, 0x00, 0xf0, 0, 0x06, 0xe1, 0x00, 0xf0, 10] + descriptor)
    }

    /// Writes a PES packet of the track; `pts` is in units of 1/90,000 s.
    public mutating func add(pts: Int, _ data: [UInt8]) {
        let stamp: [UInt8] = [
            0x21 | UInt8(truncatingIfNeeded: pts >> 29 & 0x0e), UInt8(truncatingIfNeeded: pts >> 22),
            UInt8(truncatingIfNeeded: pts >> 14) | 1, UInt8(truncatingIfNeeded: pts >> 7),
            UInt8(truncatingIfNeeded: pts << 1) | 1,
        ]
        let length = 3 + stamp.count + data.count
        packets(
            Self.streamPID,
            [0, 0, 1, 0xbd, UInt8(length >> 8), UInt8(length & 0xff), 0x84, 0x80, UInt8(stamp.count)] + stamp
                + data)
    }

    private mutating func section(_ pid: UInt16, _ table: [UInt8]) {
        var crc: UInt32 = .max
        for byte in table {
            crc ^= UInt32(byte) << 24
            for _ in 0..<8 { crc = crc >> 31 == 1 ? crc << 1 ^ 0x04c1_1db7 : crc << 1 }
        }
        let sum = (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) }
        packets(pid, [0] + table + sum + [UInt8](repeating: 0xff, count: 183 - table.count - 4))
    }

    private mutating func packets(_ pid: UInt16, _ payload: [UInt8]) {
        var rest = payload[...]
        var isFirst = true
        while !rest.isEmpty {
            let part = rest.prefix(184)
            rest = rest.dropFirst(184)
            let counter = counters[pid, default: 0]
            counters[pid] = (counter + 1) & 15
            let missing = 184 - part.count
            bytes += [0x47, (isFirst ? 0x40 : 0) | UInt8(pid >> 8), UInt8(pid & 0xff)]
            bytes.append((missing > 0 ? 0x30 : 0x10) | counter)
            if missing > 0 {
                bytes.append(UInt8(missing - 1))
                if missing > 1 { bytes += [0] + [UInt8](repeating: 0xff, count: missing - 2) }
            }
            bytes += part
            isFirst = false
        }
    }
}
