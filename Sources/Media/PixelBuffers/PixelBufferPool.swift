public import LibAV

/// Makes pixel buffers of one form, in memory that is used again (Core Video's `CVPixelBufferPool`). From any thread.
public final class PixelBufferPool: Sendable {
    private let frames: FramePool

    /// A pool. Throws `MediaError.misuse` of a size or a format that there are no buffers of.
    public init(pixelFormat: PixelFormat, width: Int, height: Int) throws {
        frames = try FramePool(pixelFormat, width, height)
    }

    /// How pixels are stored.
    public var pixelFormat: PixelFormat { frames.format }
    /// Width in pixels.
    public var width: Int { frames.width }
    /// Height in pixels.
    public var height: Int { frames.height }

    /// A buffer whose pixels are still to be set: what is in it is what was there before.
    public func makeBuffer() throws -> PixelBuffer { PixelBuffer(owning: try frames.frame()) }
}
