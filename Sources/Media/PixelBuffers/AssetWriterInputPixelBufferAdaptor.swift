public import LibAV
internal import Locking

/// Appends pixel buffers to a video input (AVFoundation's `AVAssetWriterInputPixelBufferAdaptor`).
///
/// A frame lasts until the next one. The last frame lasts as long as the one before it, or until the end of the
/// writer's session if that is set. So a buffer is encoded when the next one is appended, and the last one when the
/// input is marked as finished. The adaptor must be used from the queue that appends to the input.
public final class AssetWriterInputPixelBufferAdaptor: Sendable {
    private let input: AssetWriterInput
    private let timeBase: Rational
    private let encoder: EncoderConfiguration
    /// The conversion that the input makes when the next buffer is appended.
    private let conversion: Guarded<EncoderFormatConverter>
    private let last = LastFrame()
    /// Pool of buffers with the size that the input encodes.
    public let pixelBufferPool: PixelBufferPool

    /// Creates an adaptor for an encoding video input, before writing starts. `pixelFormat` is the format of the
    /// pool's buffers; nil for the encoder's. Buffers in other formats and of other sizes are converted.
    public init(input: AssetWriterInput, pixelFormat: PixelFormat? = nil) throws {
        guard input.mediaType == .video, case .encode(let settings) = input.settings else {
            throw MediaError.invalidArgument("pixel buffers require a video input that encodes")
        }
        self.input = input
        timeBase = settings.timeBase
        encoder = settings
        conversion = Guarded(EncoderFormatConverter(settings))
        pixelBufferPool = try PixelBufferPool(
            pixelFormat: pixelFormat ?? settings.pixelFormat, width: settings.width, height: settings.height)
        try input.register(last)
    }

    /// Appends a buffer to be presented at `time`, on the time line of the writer's session. Times must increase by at
    /// least a tick of the encoder's time base. The buffer becomes read-only.
    /// - Throws: `MediaError.unsupportedConversion` if the buffer can't be converted to the input's settings. A rejected
    ///   buffer has no effect on later ones.
    public func append(_ buffer: PixelBuffer, at time: MediaTime) throws {
        guard try input.isOpen() else { return }
        let ticks = time.ticks(in: timeBase)
        // A rejected buffer stays writable.
        try last.check(ticks, timeBase)
        try checkConversion(of: buffer)
        let earlier = try last.replace(with: buffer.makeFrame(), at: ticks, timeBase)
        if let earlier { try input.append(earlier) }
    }

    private func checkConversion(of buffer: PixelBuffer) throws {
        let isOfTheEncoder =
            buffer.pixelFormat == encoder.pixelFormat && buffer.width == encoder.width
            && buffer.height == encoder.height
        if isOfTheEncoder { return }
        let frame = try buffer.reference()
        do throws(AVError) {
            try conversion.withLock { conversion throws(AVError) in try conversion.prepare(for: frame) }
        } catch {
            throw MediaError.unsupportedConversion(
                of: frame, toSize: PixelSize(width: encoder.width, height: encoder.height),
                encoder.pixelFormat, track: input.reference, error)
        }
    }
}
