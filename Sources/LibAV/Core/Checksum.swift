internal import CFFmpeg
internal import Glibc

/// A checksum of 128 bits (MurmurHash3, `av_murmur3_update`), which detects differences by chance. Different contents with
/// equal checksums can be constructed.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct Checksum: ~Copyable, @unchecked Sendable {
    /// The bytes of a checksum.
    package typealias Value = [UInt8]
    /// Number of bytes of a checksum.
    package static let size = 16

    private let state: OpaquePointer

    /// Creates the checksum of no bytes.
    package init() throws(AVError) {
        guard let state = av_murmur3_alloc() else { throw .outOfMemory("av_murmur3_alloc") }
        self.state = state
        av_murmur3_init(state)
    }

    deinit { av_free(UnsafeMutableRawPointer(state)) }

    /// Returns the checksum of some bytes.
    package static func of(_ bytes: some Collection<UInt8>) throws(AVError) -> Value {
        let checksum = try Checksum()
        let bytes = ContiguousArray(bytes)
        bytes.withUnsafeBytes { checksum.add($0) }
        return checksum.finish()
    }

    /// Adds bytes.
    package func add(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        av_murmur3_update(state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Adds a number.
    package func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    /// Adds what an encoder reads of a video frame: pixels, times, the requested picture type, fields and closed captions.
    /// - Throws: `AVError` if there is no memory.
    package func add(_ frame: borrowing Frame) throws(AVError) {
        if frame.isUpsideDown { return try add(frame.copied()) }
        add(frame.pts)
        add(frame.duration)
        add(Int64(frame.raw.pointee.pict_type.rawValue))
        add(
            Int64(tandem_frame_is_interlaced(frame.raw)) << 1
                | Int64(tandem_frame_is_top_field_first(frame.raw)))
        if let captions = av_frame_get_side_data(frame.raw, AV_FRAME_DATA_A53_CC) {
            add(UnsafeRawBufferPointer(start: captions.pointee.data, count: Int(captions.pointee.size)))
        }
        for plane in 0..<frame.planeCount {
            _ = frame.withPixels(ofPlane: plane) { bytes, layout in
                for row in 0..<layout.rows {
                    let start = row * layout.bytesPerRow
                    add(UnsafeRawBufferPointer(rebasing: bytes[start..<start + layout.rowSize]))
                }
            }
        }
    }

    /// Returns the checksum of what was added. Nothing can be added afterwards.
    package consuming func finish() -> Value {
        var value = Value(repeating: 0, count: Self.size)
        value.withUnsafeMutableBufferPointer { av_murmur3_final(state, $0.baseAddress) }
        return value
    }
}
