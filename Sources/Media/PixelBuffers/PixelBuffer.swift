public import LibAV
internal import Synchronization

/// Pixels of a frame, for writing or reading (Core Video's `CVPixelBuffer`).
///
/// A new buffer is writable by its creator until it is appended to a writer or encoded; afterwards it is read-only, and
/// may be read from any thread.
public final class PixelBuffer: Sendable {
    private let frame: Frame
    private let isShared: Atomic<Bool>

    /// Creates a buffer with undefined contents. Throws `MediaError.invalidArgument` for an invalid size, and for hardware and
    /// palette formats.
    public convenience init(pixelFormat: PixelFormat, width: Int, height: Int) throws {
        self.init(owning: try FramePool(pixelFormat, width, height).frame())
    }

    /// Wraps an existing frame for reading.
    init(reading frame: consuming Frame) throws(AVError) {
        // Filters may flip frames by using a negative line size.
        self.frame = frame.isUpsideDown ? try frame.copied() : frame
        isShared = Atomic(true)
    }

    /// Wraps an exclusively owned frame for writing.
    init(owning frame: consuming Frame) {
        self.frame = frame
        isShared = Atomic(false)
    }

    /// Pixel format of the frame.
    public var pixelFormat: PixelFormat { frame.pixelFormat }
    /// Width in pixels.
    public var width: Int { frame.width }
    /// Height in pixels.
    public var height: Int { frame.height }
    /// Primaries, transfer, matrix and range; nil for each that is unknown.
    public var color: ColorDescription { frame.color }
    /// Number of planes, such as three for `yuv420p` and one for `rgb24`.
    public var planeCount: Int { frame.planeCount }

    /// Calls `body` with a plane's bytes (`CVPixelBufferGetBaseAddressOfPlane`), which are valid only during the
    /// call. Throws `MediaError.invalidArgument` if there is no such plane.
    public func withPlane<R>(
        _ index: Int, _ body: (UnsafeRawBufferPointer, FramePlane) throws -> R
    ) throws -> R {
        let result = try frame.withPixels(ofPlane: index) { bytes, plane in
            try body(UnsafeRawBufferPointer(bytes), plane)
        }
        guard let result else { throw missing(index) }
        return result
    }

    /// Calls `body` with a plane's bytes for writing. Throws `MediaError.misuse` if the buffer is read-only.
    public func withMutablePlane<R>(
        _ index: Int, _ body: (UnsafeMutableRawBufferPointer, FramePlane) throws -> R
    ) throws -> R {
        guard !isShared.load(ordering: .acquiring) else {
            throw MediaError.misuse("a pixel buffer that was appended is read-only")
        }
        guard let result = try frame.withPixels(ofPlane: index, body) else { throw missing(index) }
        return result
    }

    private func missing(_ index: Int) -> MediaError {
        MediaError.invalidArgument("\(pixelFormat) has \(planeCount) planes, no plane \(index)")
    }

    /// Returns a reference to the frame without making the buffer read-only.
    func reference() throws(AVError) -> Frame { try frame.reference() }

    /// Returns a reference to the frame, and makes the buffer read-only (`av_frame_ref`).
    package func makeFrame() throws(AVError) -> Frame {
        isShared.store(true, ordering: .releasing)
        return try frame.reference()
    }
}

extension FramePool {
    /// Creates a pool; throws `MediaError.invalidArgument` for an invalid size or format.
    convenience init(_ format: PixelFormat, _ width: Int, _ height: Int) throws {
        do throws(AVError) {
            try self.init(format: format, width: width, height: height)
        } catch {
            throw MediaError.invalidArgument(
                "a pixel buffer of \(width)x\(height) \(format) can't be allocated: \(error)")
        }
    }
}
