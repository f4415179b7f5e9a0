internal import CFFmpeg
internal import Glibc
internal import Locking

/// Workarounds for SVT-AV1 1.4: its encoders share a variable without a lock, and an encoder that has received no
/// frame blocks when it is drained. Other encoders are unaffected.
enum SharedEncoder {
    /// State of an SVT-AV1 encoder, stored in `AVCodecContext.opaque`; nil before the first frame.
    private static var receivedFrames: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }
    private static var ended: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 2) }

    /// Lock for SVT-AV1's global list of processors, which is created and read when an encoder is opened, and freed
    /// when any encoder is closed.
    private static let lock = Guarded(())

    /// Runs `body`, which opens or closes an encoder, while no other SVT-AV1 encoder is opened or closed.
    static func serialized<Result>(
        _ context: UnsafeMutablePointer<AVCodecContext>, as name: String, _ body: () -> Result
    ) -> Result {
        EncoderModel.named(name)?.operation.isShared == true ? lock.withLock { _ in body() } : body()
    }

    private static func isShared(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        context.pointee.codec.flatMap { EncoderModel.named(String(cString: $0.pointee.name)) }?.operation
            .isShared
            == true
    }

    /// Records that the encoder has received a frame.
    static func noteFrame(_ context: UnsafeMutablePointer<AVCodecContext>) {
        if context.pointee.opaque == nil { context.pointee.opaque = receivedFrames }
    }

    /// Returns whether the input ends before any frame, in which case the encoder must not be drained.
    static func endsWithoutFrames(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        guard isShared(context), context.pointee.opaque != receivedFrames else { return false }
        context.pointee.opaque = ended
        return true
    }

    /// Returns whether the input has ended before any frame, so that there are no packets.
    static func hasEndedWithoutFrames(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        context.pointee.opaque == ended
    }

    /// Frees an encoder's context; an open encoder is drained and closed first.
    static func free(_ context: UnsafeMutablePointer<AVCodecContext>) {
        guard isShared(context), avcodec_is_open(context) != 0 else { return freeCodec(context) }
        if context.pointee.opaque != receivedFrames { sendBlack(to: context) }
        // Closing waits for pending frames. The encoder is drained first, outside of the lock.
        _ = avcodec_send_frame(context, nil)
        var packet: UnsafeMutablePointer<AVPacket>? = av_packet_alloc()
        while let raw = packet, avcodec_receive_packet(context, raw) >= 0 { av_packet_unref(raw) }
        av_packet_free(&packet)
        lock.withLock { _ in freeCodec(context) }
    }

    private static func sendBlack(to context: UnsafeMutablePointer<AVCodecContext>) {
        var frame: UnsafeMutablePointer<AVFrame>? = av_frame_alloc()
        defer { av_frame_free(&frame) }
        guard let raw = frame else { return }
        (raw.pointee.width, raw.pointee.height) = (context.pointee.width, context.pointee.height)
        raw.pointee.format = context.pointee.pix_fmt.rawValue
        guard av_frame_get_buffer(raw, 0) >= 0 else { return }
        for buffer in [raw.pointee.buf.0, raw.pointee.buf.1, raw.pointee.buf.2] {
            if let buffer { memset(buffer.pointee.data, 0, buffer.pointee.size) }
        }
        _ = avcodec_send_frame(context, raw)
    }
}
