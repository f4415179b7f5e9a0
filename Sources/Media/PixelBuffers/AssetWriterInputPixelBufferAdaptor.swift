public import LibAV
internal import Locking

/// Appends pixel buffers to a video input (AVFoundation's `AVAssetWriterInputPixelBufferAdaptor`).
///
/// A frame lasts until the next one; the last one as long as the one before it, or to the end of the writer's session where that is
/// set. So each buffer is encoded when the next one comes, and the last when the input is marked as finished. Used from the queue on
/// which the input is appended to.
public final class AssetWriterInputPixelBufferAdaptor: Sendable {
    private let input: AssetWriterInput
    private let timeBase: Rational
    private let last = LastFrame()
    /// Buffers of the size that the input encodes.
    public let pixelBufferPool: PixelBufferPool

    /// An adaptor for a video input that encodes, made before writing starts. `pixelFormat` is the one of the pool's buffers: the
    /// encoder's where it is nil. Buffers of any other format are converted, too.
    public init(input: AssetWriterInput, pixelFormat: PixelFormat? = nil) throws {
        guard input.mediaType == .video, case .encode(let settings) = input.settings else {
            throw MediaError.misuse("pixel buffers go into a video input that encodes")
        }
        self.input = input
        timeBase = settings.timeBase
        pixelBufferPool = try PixelBufferPool(
            pixelFormat: pixelFormat ?? settings.pixelFormat, width: settings.width, height: settings.height)
        try input.adopt(last)
    }

    /// Appends a buffer that is shown from a time on, on the time line of the writer's session; times increase by a tick of the
    /// encoder's time base at least. The buffer can only be read from now on.
    public func append(_ buffer: PixelBuffer, at time: MediaTime) throws {
        guard buffer.width == pixelBufferPool.width, buffer.height == pixelBufferPool.height else {
            throw MediaError.misuse(
                "a buffer of \(buffer.width)x\(buffer.height) in an input of \(pixelBufferPool.width)x\(pixelBufferPool.height)"
            )
        }
        guard try input.isOpen() else { return }
        let ticks = time.ticks(in: timeBase)
        // One that is refused can still be written into.
        try last.check(ticks, timeBase)
        let earlier = try last.replace(with: buffer.makeFrame(), at: ticks, timeBase)
        if let earlier { try input.append(earlier) }
    }
}
