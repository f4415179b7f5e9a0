internal import CFFmpeg

/// A pool of reusable frame buffers of one size and format (`AVBufferPool`). Thread-safe.
///
/// Unchecked `Sendable`: `AVBufferPool` is thread-safe, and the pointer is constant.
package final class FramePool: @unchecked Sendable {
    private let pool: OpaquePointer
    package let format: PixelFormat
    /// Width of the frames in pixels.
    package let width: Int
    /// Height of the frames in pixels.
    package let height: Int

    /// Row alignment in bytes, for vector instructions.
    private static let alignment: Int32 = 64

    /// Creates a pool of frames in main memory. Throws for hardware formats, palettes and invalid sizes.
    package init(format: PixelFormat, width: Int, height: Int) throws(AVError) {
        guard Self.canHold(format, width, height) else {
            throw AVError(
                code: tandem_einval, operation: "av_buffer_pool_init",
                detail: "frames of \(width)x\(height) \(format) can't be allocated")
        }
        let size = av_image_get_buffer_size(format.av, Int32(width), Int32(height), Self.alignment)
        try check(size, "av_image_get_buffer_size")
        // The additional bytes allow vectorized code to read past the end.
        guard let pool = av_buffer_pool_init(Int(size) + Int(Self.alignment), nil) else {
            throw .outOfMemory("av_buffer_pool_init")
        }
        self.pool = pool
        (self.format, self.width, self.height) = (format, width, height)
    }

    deinit {
        // The memory is freed after the last frame that uses it.
        var copy: OpaquePointer? = pool
        av_buffer_pool_uninit(&copy)
    }

    private static func canHold(_ format: PixelFormat, _ width: Int, _ height: Int) -> Bool {
        guard (1...65_536).contains(width), (1...65_536).contains(height),
            let descriptor = av_pix_fmt_desc_get(format.av)
        else { return false }
        let isUnsupported = UInt64(AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_PAL)
        return descriptor.pointee.flags & isUnsupported == 0
            && av_image_check_size(UInt32(width), UInt32(height), 0, nil) >= 0
    }

    /// Returns a frame with uninitialized pixels.
    package func frame() throws(AVError) -> Frame {
        let frame = try Frame()
        guard let buffer = av_buffer_pool_get(pool) else { throw .outOfMemory("av_buffer_pool_get") }
        let raw = frame.raw
        raw.pointee.buf.0 = buffer
        raw.pointee.format = format.value
        raw.pointee.width = Int32(width)
        raw.pointee.height = Int32(height)
        let filled = withUnsafeMutablePointer(to: &raw.pointee.data) { data in
            data.withMemoryRebound(to: UnsafeMutablePointer<UInt8>?.self, capacity: 8) { data in
                withUnsafeMutablePointer(to: &raw.pointee.linesize) { sizes in
                    sizes.withMemoryRebound(to: Int32.self, capacity: 8) { sizes in
                        av_image_fill_arrays(
                            data, sizes, buffer.pointee.data, format.av, Int32(width), Int32(height),
                            Self.alignment)
                    }
                }
            }
        }
        try check(filled, "av_image_fill_arrays")
        raw.pointee.extended_data = withUnsafeMutablePointer(to: &raw.pointee.data) {
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: UnsafeMutablePointer<UInt8>?.self)
        }
        return frame
    }
}
