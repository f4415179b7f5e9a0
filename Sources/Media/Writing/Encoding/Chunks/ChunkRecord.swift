internal import DequeModule
internal import LibAV

/// An encoded chunk of a video track as it is stored in a file: the packets, and checksums of the frames from which they
/// were encoded and of the packets' bytes.
///
/// All numbers are little-endian. A header of 56 bytes is followed by the packets: for each, 36 bytes, its data, and its side
/// data, each with 8 bytes before it.
struct ChunkRecord {
    /// Index of the chunk in the track.
    let index: Int
    /// Checksum of the frames.
    let frames: Checksum.Value
    /// Number of bytes of the packets.
    let length: Int
    private let packetCount: Int
    /// Checksum of the packets' bytes.
    private let packets: Checksum.Value

    static let headerSize = 3 * 8 + 2 * Checksum.size
    private static let packetHeaderSize = 3 * 8 + 3 * 4
    /// Maximum number of side data of a packet, of which there are fewer types.
    private static let maxSideData: Int32 = 100
    /// Maximum number of packets. A longer chunk is not used.
    private static let maxPackets = 10_000

    /// Reads a header; nil if it isn't valid.
    init?(header bytes: [UInt8]) {
        guard bytes.count == Self.headerSize else { return nil }
        var reader = LittleEndianReader(bytes)
        guard let index = reader.number(), let length = reader.number(), let count = reader.number(),
            index >= 0, index < 1 << 32, (0...1 << 32).contains(length),
            (0...Int64(Self.maxPackets)).contains(count),
            let frames = reader.bytes(Checksum.size), let packets = reader.bytes(Checksum.size)
        else { return nil }
        (self.index, self.length, packetCount) = (Int(index), Int(length), Int(count))
        (self.frames, self.packets) = (frames, packets)
    }

    /// Returns a record with header and packets.
    /// - Throws: `AVError` for a packet that can't be stored.
    static func encode(
        index: Int, frames: Checksum.Value, packets: borrowing PacketList
    ) throws(AVError) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(packets.byteCount + packets.count * packetHeaderSize)
        for position in 0..<packets.count {
            try packets.withPacket(position) { packet throws(AVError) in
                for number in [packet.pts, packet.dts, packet.duration] { body.append(littleEndian: number) }
                let sideData = packet.essentialSideData
                body.append(littleEndian: packet.flags & Packet.encoderFlags)
                body.append(littleEndian: Int32(clamping: sideData.count))
                body.append(littleEndian: Int32(clamping: packet.size))
                packet.withBytes { body.append(contentsOf: $0) }
                for found in sideData {
                    body.append(littleEndian: found.type)
                    body.append(littleEndian: Int32(clamping: found.bytes.count))
                    body.append(contentsOf: found.bytes)
                }
            }
        }
        var record: [UInt8] = []
        record.reserveCapacity(headerSize + body.count)
        for number in [index, body.count, packets.count] { record.append(littleEndian: Int64(number)) }
        record += frames
        record += try Checksum.of(body)
        return record + body
    }

    /// Returns the packets in the bytes that follow the header; nil if they aren't those of frames with the given presentation
    /// times, in increasing order. The bytes come from a folder that others may write to.
    func packets(in body: [UInt8], of times: [Int64]) throws(AVError) -> PacketList? {
        guard body.count == length, try Checksum.of(body) == packets else { return nil }
        var list = PacketList()
        var found: [Int64] = []
        var reader = LittleEndianReader(body)
        for _ in 0..<packetCount {
            guard let pts = reader.number(), let dts = reader.number(), let duration = reader.number(),
                let flags = reader.shortNumber(), let sideDataCount = reader.shortNumber(),
                (0...Self.maxSideData).contains(sideDataCount), let size = reader.shortNumber(),
                let bytes = reader.bytes(Int(size))
            else { return nil }
            let packet = try Packet.of(bytes)
            (packet.pts, packet.dts, packet.duration, packet.flags) = (
                pts, dts, duration, flags & Packet.encoderFlags
            )
            found.append(pts)
            // Decoding times precede presentation times, by less than the length of a chunk.
            guard dts == noTimestamp || dts <= pts, dts == noTimestamp || dts > -(1 << 60), duration >= 0,
                duration < 1 << 60
            else { return nil }
            for _ in 0..<sideDataCount {
                guard let type = reader.shortNumber(), let size = reader.shortNumber(),
                    let bytes = reader.bytes(Int(size))
                else { return nil }
                try packet.add(Packet.SideData(type: type, bytes: bytes))
            }
            list.append(packet)
        }
        guard reader.isAtEnd, found.sorted() == times else { return nil }
        return list
    }
}

/// A list of packets, which are noncopyable.
struct PacketList: ~Copyable {
    private var packets = UniqueDeque<Packet>()
    private(set) var byteCount = 0

    var count: Int { packets.count }

    mutating func append(_ packet: consuming Packet) {
        byteCount += packet.size
        packets.append(packet)
    }

    mutating func popFirst() -> Packet? { packets.popFirst() }

    func withPacket(_ index: Int, _ body: (borrowing Packet) throws(AVError) -> Void) throws(AVError) {
        try body(packets[index])
    }
}

/// A reader of little-endian numbers. Returns nil at the end of the bytes.
private struct LittleEndianReader {
    private let all: [UInt8]
    private var at = 0

    init(_ bytes: [UInt8]) { all = bytes }

    var isAtEnd: Bool { at == all.count }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count >= 0, count <= all.count - at else { return nil }
        defer { at += count }
        return Array(all[at..<at + count])
    }

    mutating func number() -> Int64? {
        bytes(8).map { $0.withUnsafeBytes { Int64(littleEndian: $0.loadUnaligned(as: Int64.self)) } }
    }

    mutating func shortNumber() -> Int32? {
        bytes(4).map { $0.withUnsafeBytes { Int32(littleEndian: $0.loadUnaligned(as: Int32.self)) } }
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
