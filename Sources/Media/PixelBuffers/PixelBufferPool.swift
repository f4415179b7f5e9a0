public import LibAV

/// Creates pixel buffers of one size and format, and reuses their memory (Core Video's `CVPixelBufferPool`). Usable
/// from any thread.
public final class PixelBufferPool: Sendable {
    private let frames: FramePool

    /// Creates a pool. Throws `MediaError.invalidArgument` for an unsupported size or format.
    public init(pixelFormat: PixelFormat, width: Int, height: Int) throws {
        frames = try FramePool(pixelFormat, width, height)
    }

    /// Pixel format of the buffers.
    public var pixelFormat: PixelFormat { frames.format }
    /// Width in pixels.
    public var width: Int { frames.width }
    /// Height in pixels.
    public var height: Int { frames.height }

    /// Returns a buffer with undefined contents, possibly those of an earlier buffer.
    public func makeBuffer() throws -> PixelBuffer { PixelBuffer(owning: try frames.frame()) }
}
