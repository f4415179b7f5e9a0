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
    private static let maxPackets: Int64 = 10_000
    /// Maximum index of a chunk and number of bytes of its packets, of which longer ones couldn't be in memory.
    private static let (maxIndex, maxLength): (Int64, Int64) = (1 << 32, 1 << 32)

    /// Reads a header; nil if it isn't valid.
    init?(header bytes: [UInt8]) {
        guard bytes.count == Self.headerSize else { return nil }
        let numbers = bytes.withUnsafeBytes { all in
            var reader = LittleEndianReader(all)
            return (0..<3).compactMap { _ in reader.number(Int64.self) }
        }
        guard (0..<Self.maxIndex).contains(numbers[0]), (0...Self.maxLength).contains(numbers[1]),
            (0...Self.maxPackets).contains(numbers[2])
        else { return nil }
        (index, length, packetCount) = (Int(numbers[0]), Int(numbers[1]), Int(numbers[2]))
        frames = Array(bytes.suffix(2 * Checksum.size).prefix(Checksum.size))
        packets = Array(bytes.suffix(Checksum.size))
    }

    /// Returns a record with header and packets.
    /// - Throws: `AVError` for a packet that can't be stored.
    static func encode(
        index: Int, frames: Checksum.Value, packets: borrowing PacketList
    ) throws(AVError) -> [UInt8] {
        // The header is known once the packets are encoded.
        var record = [UInt8](repeating: 0, count: headerSize)
        record.reserveCapacity(headerSize + packets.byteCount + packets.count * packetHeaderSize)
        for position in 0..<packets.count {
            packets.withPacket(position) { packet in
                let sideData = packet.essentialSideData
                for number in [packet.pts, packet.dts, packet.duration] {
                    record.append(littleEndian: number)
                }
                record.append(littleEndian: packet.flags & Packet.encoderFlags)
                record.append(littleEndian: Int32(clamping: sideData.count))
                record.append(littleEndian: Int32(clamping: packet.size))
                packet.withBytes { record.append(contentsOf: $0) }
                for found in sideData {
                    record.append(littleEndian: found.type)
                    record.append(littleEndian: Int32(clamping: found.bytes.count))
                    record.append(contentsOf: found.bytes)
                }
            }
        }
        var header: [UInt8] = []
        for number in [index, record.count - headerSize, packets.count] {
            header.append(littleEndian: Int64(number))
        }
        header += frames + (try checksum(ofPacketsIn: record, from: headerSize))
        record.replaceSubrange(0..<headerSize, with: header)
        return record
    }

    private static func checksum(
        ofPacketsIn bytes: [UInt8], from start: Int
    ) throws(AVError) -> Checksum.Value {
        let checksum = try Checksum()
        bytes.withUnsafeBytes { checksum.add(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        return checksum.finish()
    }

    /// Returns the packets in the bytes that follow the header; nil if they aren't those of frames with the given presentation
    /// times, in increasing order. The bytes come from a folder that others may write to.
    func packets(in body: [UInt8], of times: [Int64]) -> PacketList? {
        guard body.count == length, (try? Self.checksum(ofPacketsIn: body, from: 0)) == packets else {
            return nil
        }
        var list = PacketList()
        let isWhole = body.withUnsafeBytes { bytes in
            var reader = LittleEndianReader(bytes)
            for _ in 0..<packetCount {
                guard let packet = Self.packet(from: &reader) else { return false }
                list.append(packet)
            }
            return reader.isAtEnd
        }
        guard isWhole, list.presentationTimes.sorted() == times else { return nil }
        return list
    }

    private static func packet(from reader: inout LittleEndianReader) -> Packet? {
        guard let pts = reader.number(Int64.self), let dts = reader.number(Int64.self),
            let duration = reader.number(Int64.self), let flags = reader.number(Int32.self),
            let sideDataCount = reader.number(Int32.self), (0...maxSideData).contains(sideDataCount),
            let size = reader.number(Int32.self), let bytes = reader.bytes(Int(size)),
            // Decoding times precede presentation times, by less than the length of a chunk.
            dts == noTimestamp || (-maxTime...max(-maxTime, pts)).contains(dts),
            (0...maxTime).contains(duration),
            let packet = try? Packet.of(bytes)
        else { return nil }
        (packet.pts, packet.dts, packet.duration) = (pts, dts, duration)
        packet.flags = flags & Packet.encoderFlags
        for _ in 0..<sideDataCount {
            guard let type = reader.number(Int32.self), let size = reader.number(Int32.self),
                let bytes = reader.bytes(Int(size)),
                (try? packet.add(Packet.SideData(type: type, bytes: Array(bytes)))) != nil
            else { return nil }
        }
        return packet
    }

    /// Maximum distance of a time from zero, so that no sum of two times overflows.
    private static let maxTime: Int64 = 1 << 60
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

    func withPacket(_ index: Int, _ body: (borrowing Packet) -> Void) { body(packets[index]) }

    /// Presentation times of the packets, in decoding order.
    var presentationTimes: [Int64] { (0..<count).map { packets[$0].pts } }
}

/// A reader of little-endian numbers. Returns nil at the end of the bytes.
private struct LittleEndianReader {
    private let all: UnsafeRawBufferPointer
    private var at = 0

    init(_ bytes: UnsafeRawBufferPointer) { all = bytes }

    var isAtEnd: Bool { at == all.count }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= all.count - at else { return nil }
        defer { at += count }
        return UnsafeRawBufferPointer(rebasing: all[at..<at + count])
    }

    mutating func number<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number? {
        bytes(MemoryLayout<Number>.size).map { Number(littleEndian: $0.loadUnaligned(as: Number.self)) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
