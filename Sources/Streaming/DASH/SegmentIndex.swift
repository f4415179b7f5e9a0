/// The index (`sidx`, ISO/IEC 14496-12, 8.16.3) of a rendition in a single file: the initialization section, the index,
/// then all segments.
package struct SegmentIndex: Hashable, Sendable {
    /// The complete box.
    package let bytes: [UInt8]

    /// Whether times require 64 bits.
    private static func isLong(_ rendition: StreamingRendition) -> Bool {
        (rendition.boundaries.first ?? 0) > Int64(UInt32.max)
    }

    /// Size of the box of a rendition in bytes.
    package static func size(of rendition: StreamingRendition) -> Int64 {
        (isLong(rendition) ? 40 : 32) + 12 * Int64(rendition.segments.count)
    }

    /// Returns the bytes of each segment in the file, behind the initialization section and the index.
    package static func ranges(of rendition: StreamingRendition) -> [ByteRange] {
        var offset = rendition.initializationSize + size(of: rendition)
        return rendition.segments.map { segment in
            defer { offset += segment.size }
            return ByteRange(offset: offset, length: segment.size)
        }
    }

    /// Returns the bytes of the index in the file.
    package static func range(of rendition: StreamingRendition) -> ByteRange {
        ByteRange(offset: rendition.initializationSize, length: size(of: rendition))
    }

    /// Creates the index of an audio or video rendition, whose track has id 1.
    ///
    /// - Throws: `StreamingError` for more than 65535 segments, a segment of 2 GB or more, or one that lasts longer
    ///   than 2³² ticks.
    package init(_ rendition: StreamingRendition) throws(StreamingError) {
        guard let count = UInt16(exactly: rendition.segments.count) else {
            throw .invalidRendition(
                id: rendition.id,
                reason: "\(rendition.segments.count) segments; the index of a single file has at most 65535")
        }
        let isLong = Self.isLong(rendition)
        let boundaries = rendition.boundaries
        var box = BoxBytes()
        box.append(UInt32(clamping: Self.size(of: rendition)))
        box.append(type: "sidx")
        box.append(UInt32(isLong ? 1 << 24 : 0))
        box.append(UInt32(1))
        box.append(UInt32(clamping: rendition.timescale))
        let earliest = boundaries.first ?? 0
        // Earliest presentation time, and the offset of the first segment behind the box.
        if isLong {
            box.append(UInt64(clamping: earliest))
            box.append(UInt64(0))
        } else {
            box.append(UInt32(clamping: earliest))
            box.append(UInt32(0))
        }
        box.append(UInt16(0))
        box.append(count)
        let accessPoint = UInt32((rendition.video?.accessPoint ?? .closed).rawValue)
        for (index, segment) in rendition.segments.enumerated() {
            guard let size = Int32(exactly: segment.size),
                let duration = UInt32(exactly: boundaries[index + 1] - boundaries[index])
            else {
                throw .invalidSegment(
                    id: rendition.id, index: index,
                    reason: "the index of a single file requires less than 2 GB and 2³² ticks")
            }
            box.append(UInt32(size))
            box.append(duration)
            // Begins with a stream access point of this type.
            box.append(1 << 31 | accessPoint << 28)
        }
        bytes = box.bytes
    }
}

/// Bytes of a box, in big-endian order.
private struct BoxBytes {
    private(set) var bytes: [UInt8] = []

    mutating func append<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(type: String) { bytes += Array(type.utf8) }
}
