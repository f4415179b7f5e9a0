internal import LibAV

/// Parser of an Opus packet's duration (RFC 6716, 3.1).
enum OpusPacket {
    /// Returns the number of samples at 48 kHz; nil for an invalid packet.
    static func samples(of packet: borrowing Packet) -> Int64? {
        packet.withBytes { samples(of: $0) }
    }

    /// Returns the number of samples at 48 kHz; nil for an invalid packet. `bytes` contains at least the first two
    /// bytes, if the packet has them.
    static func samples(of bytes: UnsafeRawBufferPointer) -> Int64? {
        guard let first = bytes.first else { return nil }
        let configuration = Int(first >> 3)
        let frame: Int64 =
            configuration < 12
            ? [480, 960, 1920, 2880][configuration & 3]
            : configuration < 16
                ? [480, 960][configuration & 1] : [120, 240, 480, 960][configuration & 3]
        switch first & 3 {
        case 0: return frame
        case 1, 2: return 2 * frame
        default:
            guard bytes.count > 1, bytes[1] & 0x3f > 0 else { return nil }
            return Int64(bytes[1] & 0x3f) * frame
        }
    }
}
