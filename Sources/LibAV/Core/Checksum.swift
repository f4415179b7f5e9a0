internal import CFFmpeg

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

    /// Adds bytes.
    package func add(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        av_murmur3_update(state, base.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Adds a number.
    package func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    /// Adds a video frame as an encoder reads it: pixels, timestamps, requested frame type, field order and closed captions.
    package func add(_ frame: borrowing Frame) {
        add(frame.pts)
        add(frame.duration)
        add(Int64(frame.raw.pointee.pict_type.rawValue))
        add(
            Int64(tandem_frame_is_interlaced(frame.raw)) << 1
                | Int64(tandem_frame_is_top_field_first(frame.raw)))
        if let captions = av_frame_get_side_data(frame.raw, AV_FRAME_DATA_A53_CC) {
            add(UnsafeRawBufferPointer(start: captions.pointee.data, count: Int(captions.pointee.size)))
        }
        for plane in 0..<frame.planeCount { addRows(of: frame, plane: plane) }
    }

    /// Adds the pixels of a plane from top to bottom, in whichever direction its rows are stored.
    private func addRows(of frame: borrowing Frame, plane: Int) {
        guard let first = frame.planeBytes(plane) else { return }
        let stride = withUnsafeBytes(of: frame.raw.pointee.linesize) {
            Int($0.bindMemory(to: Int32.self)[plane])
        }
        let size = max(
            0, Int(av_image_get_linesize(frame.pixelFormat.av, frame.raw.pointee.width, Int32(plane))))
        for row in 0..<frame.planeHeight(plane) {
            add(UnsafeRawBufferPointer(start: first + row * stride, count: size))
        }
    }

    /// Returns the checksum of what was added. Nothing can be added afterwards.
    package consuming func finish() -> Value {
        var value = Value(repeating: 0, count: Self.size)
        value.withUnsafeMutableBufferPointer { av_murmur3_final(state, $0.baseAddress) }
        return value
    }
}
