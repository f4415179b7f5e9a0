internal import LibAV

/// Rewrites a section of a FLAC stream as a complete stream: frame numbers start at 0, and STREAMINFO contains the
/// section's length and no checksum. Decoders use length, checksum and numbers; copied ones would be wrong.
///
/// Confined to one queue.
final class FLACRenumbering: PacketStage {
    private var header: [UInt8]
    private var frames: UInt64 = 0
    private var samples: UInt64 = 0

    /// End of the last frame, in its packet's time base.
    private var end: (pts: Int64, dts: Int64) = (0, 0)

    private static let headerSize = 34

    /// Creates a stage; `header` is the codec's STREAMINFO. Returns nil unless it has 34 bytes.
    init?(header: [UInt8]) {
        guard header.count == Self.headerSize else { return nil }
        self.header = header
        // Frame sizes, number of samples, and checksum; 0 means unknown.
        for index in 4..<10 { self.header[index] = 0 }
        self.header[13] &= 0xf0
        for index in 14..<Self.headerSize { self.header[index] = 0 }
    }

    /// Returns whether STREAMINFO contains the number of samples; in Ogg it is often 0 (unknown).
    static func storesLength(_ header: [UInt8]) -> Bool {
        header.count != headerSize || header[13] & 0x0f != 0 || header[14..<18].contains { $0 != 0 }
    }

    /// Returns parameters with a STREAMINFO without length and checksum, which is valid before the number of frames is
    /// known.
    func parameters(of input: CodecParameters) throws -> CodecParameters {
        try input.with(extradata: header, level: nil, codecTag: nil)
    }

    func push(_ packet: consuming Packet, into next: (consuming Packet) throws -> Void) throws {
        end = (packet.pts + packet.duration, packet.dts + packet.duration)
        try next(try self.next(packet))
    }

    /// Passes on the final STREAMINFO as side data of an empty packet (`AV_PKT_DATA_NEW_EXTRADATA`).
    func finish(into next: (consuming Packet) throws -> Void) throws {
        let packet = try Packet.containing(header: finishedHeader)
        (packet.pts, packet.dts) = end
        try next(packet)
    }

    /// STREAMINFO with the final number of samples.
    private var finishedHeader: [UInt8] {
        var header = header
        header[13] |= UInt8(truncatingIfNeeded: samples >> 32) & 0x0f
        for index in 0..<4 {
            header[14 + index] = UInt8(truncatingIfNeeded: samples >> (8 * UInt64(3 - index)))
        }
        return header
    }

    /// Returns a packet with its new frame number; a packet that isn't a FLAC frame is returned unchanged.
    private func next(_ packet: consuming Packet) throws(AVError) -> Packet {
        guard let (bytes, length) = packet.withBytes({ rewritten($0) }) else { return packet }
        frames += 1
        samples += UInt64(length)
        let fresh = try Packet.of(bytes)
        try fresh.copyProperties(of: packet)
        return fresh
    }

    /// Returns a frame with its new number and checksums, and its number of samples; nil if the bytes aren't a frame.
    private func rewritten(_ bytes: UnsafeRawBufferPointer) -> (bytes: [UInt8], samples: Int)? {
        guard let header = FLACFrameHeader(bytes) else { return nil }
        let (numberSize, end, length) = (header.numberSize, header.end, header.samples)
        var frame: [UInt8] = []
        frame.reserveCapacity(bytes.count + 6)
        frame += bytes[0..<4]
        frame += Self.number(bytes[1] & 1 == 1 ? samples : frames)
        frame += bytes[(4 + numberSize)..<end]
        frame.append(Self.check8(frame))
        frame += bytes[(end + 1)..<(bytes.count - 2)]
        let check = Self.check16(frame)
        frame += [UInt8(check >> 8), UInt8(check & 0xff)]
        return (frame, length)
    }

    // MARK: Numbers and checksums

    /// Encodes a number like UTF-8, with up to seven bytes.
    private static func number(_ value: UInt64) -> [UInt8] {
        if value < 0x80 { return [UInt8(value)] }
        var size = 2
        while size < 7, value >> UInt64(5 * size + 1) != 0 { size += 1 }
        var bytes = (0..<size).reversed().map {
            0x80 | UInt8(truncatingIfNeeded: value >> UInt64(6 * $0)) & 0x3f
        }
        let mark = UInt8(truncatingIfNeeded: 0xff00 >> size)
        let room: UInt8 = size >= 7 ? 0 : UInt8(0x7f >> size)
        bytes[0] = mark | UInt8(truncatingIfNeeded: value >> UInt64(6 * (size - 1))) & room
        return bytes
    }

    private static func check8(_ bytes: [UInt8]) -> UInt8 {
        var sum: UInt8 = 0
        for byte in bytes {
            sum ^= byte
            for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x80 == 0 ? 0 : 0x07) }
        }
        return sum
    }

    private static let table16: [UInt16] = (0..<256).map { index in
        var sum = UInt16(index) << 8
        for _ in 0..<8 { sum = sum << 1 ^ (sum & 0x8000 == 0 ? 0 : 0x8005) }
        return sum
    }

    private static func check16(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt16 = 0
        for byte in bytes { sum = sum << 8 ^ table16[Int(UInt8(sum >> 8) ^ byte)] }
        return sum
    }
}
