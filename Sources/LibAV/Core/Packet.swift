internal import CFFmpeg
internal import Glibc

/// A packet of coded data with its timestamps (`AVPacket`) and a single owner. The data is reference-counted, so that
/// several packets can share it.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct Packet: ~Copyable, @unchecked Sendable {
    let raw: UnsafeMutablePointer<AVPacket>

    /// Creates a packet without data (`av_packet_alloc`).
    package init() throws(AVError) {
        guard let raw = av_packet_alloc() else { throw .outOfMemory("av_packet_alloc") }
        self.raw = raw
    }

    deinit {
        var copy: UnsafeMutablePointer<AVPacket>? = raw
        av_packet_free(&copy)
    }

    /// Creates a packet with a copy of the bytes and the padding that decoders require (`av_new_packet`).
    package static func of(_ bytes: [UInt8]) throws(AVError) -> Packet {
        let packet = try empty(size: bytes.count)
        bytes.withUnsafeBytes { packet.fill(from: $0) }
        return packet
    }

    /// Creates a packet with a copy of the bytes in a buffer and the padding that decoders require (`av_new_packet`).
    package static func of(_ bytes: UnsafeRawBufferPointer) throws(AVError) -> Packet {
        let packet = try empty(size: bytes.count)
        packet.fill(from: bytes)
        return packet
    }

    private static func empty(size: Int) throws(AVError) -> Packet {
        let packet = try Packet()
        try check(av_new_packet(packet.raw, Int32(clamping: size)), "av_new_packet")
        return packet
    }

    private func fill(from bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress { memcpy(raw.pointee.data, base, bytes.count) }
    }

    /// Creates a packet with all bytes of a source. Throws if the source is larger than 2 GiB or became shorter.
    package static func of(_ source: any ByteSource) throws(AVError) -> Packet {
        let packet = try Packet()
        guard let size = Int32(exactly: source.size) else {
            throw AVError(code: tandem_einval, operation: "av_new_packet", detail: "too many bytes")
        }
        try check(av_new_packet(packet.raw, size), "av_new_packet")
        let buffer = UnsafeMutableRawBufferPointer(start: packet.raw.pointee.data, count: Int(size))
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = try source.read(at: Int64(done), into: rest)
            guard count > 0 else {
                throw AVError(code: tandem_eof, operation: "read", detail: "the file became shorter")
            }
            done += count
        }
        return packet
    }

    /// Calls `body` with the packet's data, which is valid only during the call.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: raw.pointee.data, count: raw.pointee.data == nil ? 0 : size))
    }

    /// Removes `first` bytes at the start and `last` bytes at the end, without moving data in memory.
    package func trim(first: Int, last: Int) {
        let first = min(max(0, first), size)
        let rest = min(max(0, last), size - first)
        guard raw.pointee.data != nil else { return }
        raw.pointee.data += first
        raw.pointee.size -= Int32(clamping: first + rest)
    }

    /// Returns another packet that shares this one's data (`av_packet_ref`). Appending to one doesn't affect the
    /// other.
    package func reference() throws(AVError) -> Packet {
        let copy = try Packet()
        try check(av_packet_ref(copy.raw, raw), "av_packet_ref")
        return copy
    }

    /// Appends the data of another packet (`av_grow_packet`).
    package func append(_ other: borrowing Packet) throws(AVError) {
        let (own, added) = (size, other.size)
        guard added > 0, let bytes = other.raw.pointee.data else { return }
        try check(av_grow_packet(raw, Int32(clamping: added)), "av_grow_packet")
        raw.pointee.data.advanced(by: own).update(from: bytes, count: added)
    }

    /// Copies timestamps, flags and side data of another packet (`av_packet_copy_props`).
    package func copyProperties(of other: borrowing Packet) throws(AVError) {
        try check(av_packet_copy_props(raw, other.raw), "av_packet_copy_props")
    }

    /// Whether the packet contains new extradata (`AV_PKT_DATA_NEW_EXTRADATA`).
    package var changesParameters: Bool { newHeaders != nil }

    /// The extradata that applies from this packet on; nil if the packet contains none.
    package var newHeaders: [UInt8]? {
        var size = 0
        guard let bytes = av_packet_get_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, &size) else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: size))
    }

    /// Size of the side data in bytes.
    package var sideDataSize: Int {
        (0..<Int(max(0, raw.pointee.side_data_elems))).reduce(0) { $0 + Int(raw.pointee.side_data[$1].size) }
    }

    /// Presentation time in the stream's time base; `noTimestamp` if unknown.
    package var pts: Int64 {
        get { raw.pointee.pts }
        nonmutating set { raw.pointee.pts = newValue }
    }
    /// Decoding time in the stream's time base; `noTimestamp` if unknown.
    package var dts: Int64 {
        get { raw.pointee.dts }
        nonmutating set { raw.pointee.dts = newValue }
    }
    /// Duration in the stream's time base; 0 if unknown.
    package var duration: Int64 {
        get { raw.pointee.duration }
        nonmutating set { raw.pointee.duration = newValue }
    }
    /// Index of the packet's stream.
    package var streamIndex: Int {
        get { Int(raw.pointee.stream_index) }
        nonmutating set { raw.pointee.stream_index = Int32(clamping: newValue) }
    }
    /// Number that the reader assigned to the packet; copied by `reference()` (`AVPacket.opaque`). Default: 0.
    package var number: Int {
        get { Int(bitPattern: raw.pointee.opaque) }
        nonmutating set { raw.pointee.opaque = UnsafeMutableRawPointer(bitPattern: newValue) }
    }
    /// Size of the data in bytes.
    package var size: Int { Int(raw.pointee.size) }
    /// Whether the packet is a keyframe (`AV_PKT_FLAG_KEY`).
    package var isKey: Bool { raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Marks the packet as a keyframe (`AV_PKT_FLAG_KEY`).
    package func markKey() { raw.pointee.flags |= AV_PKT_FLAG_KEY }
    /// Whether the packet is decoded as a reference but not presented, such as before the start of an edit
    /// (`AV_PKT_FLAG_DISCARD`).
    package var isDiscarded: Bool { raw.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    /// Marks the packet as decoded but not presented (`AV_PKT_FLAG_DISCARD`).
    package func markDiscarded() { raw.pointee.flags |= AV_PKT_FLAG_DISCARD }
    /// Clears `AV_PKT_FLAG_DISCARD`, so that the packet is presented regardless of an edit list.
    package func clearDiscard() { raw.pointee.flags &= ~AV_PKT_FLAG_DISCARD }
    /// Whether the demuxer has marked the packet as damaged (`AV_PKT_FLAG_CORRUPT`).
    package var isCorrupt: Bool { raw.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// The flags (`AVPacket.flags`).
    package var flags: Int32 {
        get { raw.pointee.flags }
        nonmutating set { raw.pointee.flags = newValue }
    }

    /// The flags that encoders set (`AV_PKT_FLAG_KEY`, `AV_PKT_FLAG_DISPOSABLE`).
    package static let encoderFlags = AV_PKT_FLAG_KEY | AV_PKT_FLAG_DISPOSABLE

    /// Side data of a packet, by libavcodec's number of its type.
    package struct SideData: Hashable, Sendable {
        package var type: Int32
        package var bytes: [UInt8]

        package init(type: Int32, bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }
    }

    /// The side data that a muxer or a decoder may need: all but statistics of an encoder (`AV_PKT_DATA_QUALITY_STATS`).
    package var essentialSideData: [SideData] {
        (0..<Int(max(0, raw.pointee.side_data_elems))).compactMap { index in
            let found = raw.pointee.side_data[index]
            guard found.type != AV_PKT_DATA_QUALITY_STATS else { return nil }
            return SideData(
                type: Int32(found.type.rawValue),
                bytes: Array(UnsafeBufferPointer(start: found.data, count: Int(found.size))))
        }
    }

    /// Adds side data (`av_packet_new_side_data`).
    /// - Throws: `AVError` for a type that the library doesn't have, or if there is no memory.
    package func add(_ sideData: SideData) throws(AVError) {
        guard (0..<Int32(AV_PKT_DATA_NB.rawValue)).contains(sideData.type) else {
            throw AVError(
                code: tandem_einval, operation: "av_packet_new_side_data", detail: "unknown type")
        }
        let type = AVPacketSideDataType(rawValue: .init(sideData.type))
        guard let data = av_packet_new_side_data(raw, type, sideData.bytes.count) else {
            throw .outOfMemory("av_packet_new_side_data")
        }
        sideData.bytes.withUnsafeBytes { bytes in
            if let base = bytes.baseAddress { memcpy(data, base, bytes.count) }
        }
    }

    /// Number of decoded samples to drop at the start and at the end (`AV_PKT_DATA_SKIP_SAMPLES`).
    package var skippedSamples: (start: Int, end: Int) {
        var size = 0
        guard let data = av_packet_get_side_data(raw, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 10 else {
            return (0, 0)
        }
        func little(_ at: Int) -> Int { (0..<4).reduce(0) { $0 | Int(data[at + $1]) << (8 * $1) } }
        return (little(0), little(4))
    }

    /// Sets the number of decoded samples to drop at the start (encoder delay) and at the end (padding of the last
    /// packet).
    package func setSkippedSamples(start: UInt32 = 0, end: UInt32 = 0) throws(AVError) {
        guard let data = av_packet_new_side_data(raw, AV_PKT_DATA_SKIP_SAMPLES, 10) else {
            throw .outOfMemory("av_packet_new_side_data")
        }
        for i in 0..<4 {
            data[i] = UInt8(truncatingIfNeeded: start >> (8 * UInt32(i)))
            data[4 + i] = UInt8(truncatingIfNeeded: end >> (8 * UInt32(i)))
        }
        (data[8], data[9]) = (0, 0)
    }

    /// Clears the number of samples to drop at the start. The number at the end is unchanged.
    package func presentFromStart() {
        var size = 0
        guard let data = av_packet_get_side_data(raw, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 10 else {
            return
        }
        for i in 0..<4 { data[i] = 0 }
    }

    /// Whether the packet has no data and contains the final extradata of an encoder.
    package var isHeader: Bool {
        var size = 0
        return self.size == 0 && av_packet_get_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, &size) != nil
    }

    /// Creates a packet without data that contains a codec's extradata (`AV_PKT_DATA_NEW_EXTRADATA`), like the last
    /// one of FLAC's encoder.
    package static func containing(header: [UInt8]) throws(AVError) -> Packet {
        let packet = try Packet()
        guard let data = av_packet_new_side_data(packet.raw, AV_PKT_DATA_NEW_EXTRADATA, header.count) else {
            throw .outOfMemory("av_packet_new_side_data")
        }
        for (index, byte) in header.enumerated() { data[index] = byte }
        return packet
    }

    /// Releases data and side data and resets all fields (`av_packet_unref`).
    func unreference() { av_packet_unref(raw) }
}
