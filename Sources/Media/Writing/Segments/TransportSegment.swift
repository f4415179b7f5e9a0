package import LibAV

/// A segment of an MPEG transport stream (ISO/IEC 13818-1), as libavformat writes it: a program association table (PAT), a
/// program map table (PMT), and PES packets, each in contiguous transport packets.
package struct TransportSegment {
    /// The first PES packet of a segment: an access unit of video, or one or more frames of audio.
    package struct FirstUnit: Hashable, Sendable {
        /// Presentation time in ticks of 90 kHz, modulo 2³³.
        package let presentationTime: Int64
        /// Whether decoding can start at the unit (`random_access_indicator`).
        package let isRandomAccess: Bool
        /// Bytes of the transport packets that contain the unit, behind the tables.
        package let range: Range<Int>
    }

    /// Size of a transport packet in bytes.
    package static let packetSize = 188
    /// Size of the tables at the beginning of a segment in bytes.
    private static let tablesSize = 2 * packetSize
    /// Unit of timestamps.
    package static let timestampUnit = Rational(1, 90_000)
    /// Number of different timestamps, of 33 bits.
    package static let timestampPeriod: Int64 = 1 << 33

    private let bytes: UnsafeRawBufferPointer

    /// Creates a view of a segment, or of its beginning.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// A packet with its header of 4 bytes, adaptation field and payload.
    private struct TransportPacket {
        let bytes: UnsafeRawBufferPointer

        private var hasAdaptationField: Bool { bytes[3] & 0x20 != 0 }

        var identifier: Int { Int(bytes[1] & 0x1f) << 8 | Int(bytes[2]) }
        /// Whether a PES packet or a table begins in the packet.
        var beginsUnit: Bool { bytes[1] & 0x40 != 0 }
        var isRandomAccess: Bool { hasAdaptationField && bytes[4] > 0 && bytes[5] & 0x40 != 0 }

        /// Contents behind the header and the adaptation field.
        var payload: UnsafeRawBufferPointer {
            let start = 4 + (hasAdaptationField ? 1 + Int(bytes[4]) : 0)
            guard bytes[3] & 0x10 != 0, start < bytes.count else {
                return UnsafeRawBufferPointer(start: nil, count: 0)
            }
            return UnsafeRawBufferPointer(rebasing: bytes[start...])
        }
    }

    /// Returns the packet at an offset; nil for one that is incomplete, or has no sync byte.
    private static func packet(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> TransportPacket? {
        guard offset + packetSize <= bytes.count, bytes[offset] == 0x47 else { return nil }
        return TransportPacket(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + packetSize]))
    }

    /// The first PES packet of a segment that begins with a PAT, the PMT to which that refers, and a PES packet with a
    /// presentation time; nil for other segments.
    package var firstUnit: FirstUnit? {
        guard let association = Self.packet(bytes, at: 0), association.identifier == 0,
            association.beginsUnit,
            let map = Self.packet(bytes, at: Self.packetSize), map.beginsUnit,
            map.identifier == Self.mapIdentifier(association.payload),
            let first = Self.packet(bytes, at: Self.tablesSize), first.beginsUnit,
            let time = Self.presentationTime(first.payload)
        else { return nil }
        var end = Self.tablesSize + Self.packetSize
        while let next = Self.packet(bytes, at: end), next.identifier == first.identifier, !next.beginsUnit {
            end += Self.packetSize
        }
        return FirstUnit(
            presentationTime: time, isRandomAccess: first.isRandomAccess, range: Self.tablesSize..<end)
    }

    /// Returns the identifier of the packets with the PMT of the first program; nil for an invalid PAT.
    private static func mapIdentifier(_ payload: UnsafeRawBufferPointer) -> Int? {
        guard let pointer = payload.first else { return nil }
        // The table's header has 8 bytes, and each program a number and an identifier of 2 bytes.
        let program = 1 + Int(pointer) + 8
        guard program + 4 <= payload.count, payload[1 + Int(pointer)] == 0 else { return nil }
        return Int(payload[program + 2] & 0x1f) << 8 | Int(payload[program + 3])
    }

    /// Returns the presentation time in the header of a PES packet; nil without one.
    private static func presentationTime(_ payload: UnsafeRawBufferPointer) -> Int64? {
        guard payload.count >= 14, payload[0] == 0, payload[1] == 0, payload[2] == 1, payload[7] & 0x80 != 0
        else { return nil }
        func bits(_ at: Int) -> Int64 { Int64(payload[at]) << 7 | Int64(payload[at + 1]) >> 1 }
        return Int64(payload[9] >> 1 & 7) << 30 | bits(10) << 15 | bits(12)
    }

    /// Returns the contents of the PES packet in the transport packets of `firstUnit`, which start at the view's first byte;
    /// nil if they are malformed.
    package var unitContents: [UInt8]? {
        guard let first = Self.packet(bytes, at: 0)?.payload, first.count >= 9 else { return nil }
        let header = 9 + Int(first[8])
        guard header <= first.count else { return nil }
        var contents = Array(first[header...])
        contents.reserveCapacity(bytes.count)
        var offset = Self.packetSize
        while offset < bytes.count {
            guard let packet = Self.packet(bytes, at: offset) else { return nil }
            contents += packet.payload
            offset += Self.packetSize
        }
        return contents
    }

    /// Identifier of the packets with the service description table (SDT).
    private static let serviceDescription = 0x11

    /// Removes the packets of the service description table, which libavformat writes before the PAT, and returns the new
    /// size. The first two packets of a segment in HLS should be PAT and PMT (RFC 8216bis, 3.1.1); the table is of DVB, and
    /// names a service that doesn't exist.
    static func removeServiceDescription(from bytes: UnsafeMutableRawBufferPointer) -> Int {
        var end = 0
        for offset in stride(from: 0, to: bytes.count, by: packetSize) {
            let size = min(packetSize, bytes.count - offset)
            if packet(UnsafeRawBufferPointer(bytes), at: offset)?.identifier == serviceDescription {
                continue
            }
            if end != offset {
                UnsafeMutableRawBufferPointer(rebasing: bytes[end..<end + size]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + size]))
            }
            end += size
        }
        return end
    }
}
