public import LibAV
internal import Synchronization

/// The pixels of a frame, to make or to read (Core Video's `CVPixelBuffer`).
///
/// Whoever made it writes into it until it is handed on; from then on it can only be read, from any thread.
public final class PixelBuffer: Sendable {
    private let frame: Frame
    private let isHandedOn: Atomic<Bool>

    /// A buffer whose pixels are still to be set. Throws `MediaError.misuse` of a size that no frame has, and of formats whose pixels
    /// are not in this process's memory or go by a palette.
    public convenience init(pixelFormat: PixelFormat, width: Int, height: Int) throws {
        self.init(owning: try FramePool(pixelFormat, width, height).frame())
    }

    /// A frame that somebody else made, to be read.
    init(reading frame: consuming Frame) throws(AVError) {
        // Filters may turn frames over by reading them from their end.
        self.frame = frame.isUpsideDown ? try frame.copied() : frame
        isHandedOn = Atomic(true)
    }

    /// A frame of nobody else, to be written.
    init(owning frame: consuming Frame) {
        self.frame = frame
        isHandedOn = Atomic(false)
    }

    /// How pixels are stored.
    public var pixelFormat: PixelFormat { frame.pixelFormat }
    /// Width in pixels.
    public var width: Int { frame.width }
    /// Height in pixels.
    public var height: Int { frame.height }
    /// What the numbers mean, as far as it is known.
    public var color: ColorDescription { frame.color }
    /// Planes that pixels are stored in: three of `yuv420p`, one of `rgb24`.
    public var planeCount: Int { frame.planeCount }

    /// Calls `body` with a plane's bytes (`CVPixelBufferGetBaseAddressOfPlane`), which are gone when it returns. Throws
    /// `MediaError.misuse` where there is no such plane.
    public func withPlane<R>(
        _ index: Int, _ body: (UnsafeRawBufferPointer, FramePlane) throws -> R
    ) throws -> R {
        let result = try frame.withPixels(ofPlane: index) { bytes, plane in
            try body(UnsafeRawBufferPointer(bytes), plane)
        }
        guard let result else { throw missing(index) }
        return result
    }

    /// The same to write. Throws `MediaError.misuse` where the buffer was handed on: others may read it.
    public func withMutablePlane<R>(
        _ index: Int, _ body: (UnsafeMutableRawBufferPointer, FramePlane) throws -> R
    ) throws -> R {
        guard !isHandedOn.load(ordering: .acquiring) else {
            throw MediaError.misuse("the pixels of a buffer that was handed on can only be read")
        }
        guard let result = try frame.withPixels(ofPlane: index, body) else { throw missing(index) }
        return result
    }

    private func missing(_ index: Int) -> MediaError {
        MediaError.misuse("\(pixelFormat) has no plane \(index), but \(planeCount)")
    }

    /// The pixels, while they can still be written.
    func reference() throws(AVError) -> Frame { try frame.reference() }

    /// The frame itself, whose pixels can only be read from now on (`av_frame_ref`).
    public func makeFrame() throws(AVError) -> Frame {
        isHandedOn.store(true, ordering: .releasing)
        return try frame.reference()
    }
}

extension FramePool {
    /// A pool; a size that is none is the caller's fault.
    convenience init(_ format: PixelFormat, _ width: Int, _ height: Int) throws {
        do throws(AVError) {
            try self.init(format: format, width: width, height: height)
        } catch {
            throw MediaError.misuse("there are no pixel buffers of \(width)x\(height) \(format): \(error)")
        }
    }
}
