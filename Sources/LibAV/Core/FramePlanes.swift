internal import CFFmpeg

/// The memory layout of a plane: rows of pixels, each followed by padding.
public struct FramePlane: Hashable, Sendable {
    /// Bytes from the start of a row to the start of the next (stride).
    public let bytesPerRow: Int
    /// Bytes of a row that contain pixels.
    public let rowSize: Int
    /// Number of rows, which is lower for subsampled chroma planes.
    public let rows: Int
}

extension Frame {
    package var planeCount: Int { max(0, Int(av_pix_fmt_count_planes(pixelFormat.av))) }

    /// Whether the rows of any plane are stored bottom-up (negative stride).
    package var isUpsideDown: Bool {
        withUnsafeBytes(of: raw.pointee.linesize) { $0.bindMemory(to: Int32.self).contains { $0 < 0 } }
    }

    /// Returns a copy of the frame with its own buffers (`av_frame_copy`).
    package func copied() throws(AVError) -> Frame {
        let copy = try Frame.video(format: pixelFormat, width: width, height: height)
        try check(av_frame_copy(copy.raw, raw), "av_frame_copy")
        try check(av_frame_copy_props(copy.raw, raw), "av_frame_copy_props")
        return copy
    }

    /// Returns the memory layout of a plane; nil if the plane doesn't exist or is stored bottom-up.
    package func plane(_ index: Int) -> FramePlane? {
        guard width > 0, (0..<planeCount).contains(index) else { return nil }
        let stride = withUnsafeBytes(of: raw.pointee.linesize) {
            Int($0.bindMemory(to: Int32.self)[index])
        }
        let size = Int(av_image_get_linesize(pixelFormat.av, raw.pointee.width, Int32(index)))
        guard size > 0, stride >= size else { return nil }
        return FramePlane(bytesPerRow: stride, rowSize: size, rows: planeHeight(index))
    }

    /// Returns a pointer to the first byte of a plane; nil if the plane doesn't exist.
    func planeBytes(_ index: Int) -> UnsafeMutablePointer<UInt8>? {
        guard (0..<8).contains(index) else { return nil }
        return withUnsafeBytes(of: raw.pointee.data) {
            $0.bindMemory(to: UnsafeMutablePointer<UInt8>?.self)[index]
        }
    }

    /// Calls `body` with the bytes of a plane of pixels, for reading or writing. A writer must be the only owner of
    /// the buffers. Returns nil if the plane doesn't exist or is stored bottom-up.
    package func withPixels<R, Failure: Error>(
        ofPlane index: Int, _ body: (UnsafeMutableRawBufferPointer, FramePlane) throws(Failure) -> R
    ) throws(Failure) -> R? {
        guard let plane = plane(index), let bytes = planeBytes(index) else { return nil }
        // The last row may have no padding.
        let count = plane.bytesPerRow * (plane.rows - 1) + plane.rowSize
        return try body(UnsafeMutableRawBufferPointer(start: bytes, count: count), plane)
    }

    func planeHeight(_ index: Int) -> Int {
        guard let descriptor = av_pix_fmt_desc_get(AVPixelFormat(rawValue: raw.pointee.format)),
            index == 1 || index == 2
        else { return height }
        let shift = Int(descriptor.pointee.log2_chroma_h)
        return (height + (1 << shift) - 1) >> shift
    }
}
