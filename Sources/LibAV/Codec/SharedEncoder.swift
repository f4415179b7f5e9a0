internal import CFFmpeg
internal import Glibc
internal import Locking

/// What SVT-AV1 1.4 needs of its users: the encoders of a process share a variable without a lock, and one that was never
/// given a frame waits for ever for its end. Every other encoder is left alone.
enum SharedEncoder {
    /// What `AVCodecContext.opaque` says of such an encoder.
    private static var given: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 1) }
    private static var ended: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: 2) }

    /// Its list of processors is made and read when an encoder opens, and freed when any of them closes.
    private static let lock = Guarded(())

    /// Calls `body`, which opens or closes an encoder, while no other of its kind does.
    static func alone<Result>(
        _ context: UnsafeMutablePointer<AVCodecContext>, as name: String, _ body: () -> Result
    ) -> Result {
        EncoderModel.of(name).isShared ? lock.withLock { _ in body() } : body()
    }

    private static func isOne(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        context.pointee.codec.map { EncoderModel.of(String(cString: $0.pointee.name)).isShared } == true
    }

    /// It was given a frame.
    static func noteFrame(_ context: UnsafeMutablePointer<AVCodecContext>) {
        if context.pointee.opaque == nil { context.pointee.opaque = given }
    }

    /// The end comes before any frame: true where the encoder must not hear of it.
    static func endsWithoutFrames(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        guard isOne(context), context.pointee.opaque != given else { return false }
        context.pointee.opaque = ended
        return true
    }

    /// It gives no packet, since there was no frame.
    static func hasEndedWithoutFrames(_ context: UnsafeMutablePointer<AVCodecContext>) -> Bool {
        context.pointee.opaque == ended
    }

    /// Closes and frees an encoder, open or not.
    static func free(_ context: UnsafeMutablePointer<AVCodecContext>) {
        guard isOne(context), avcodec_is_open(context) != 0 else { return freeCodec(context) }
        if context.pointee.opaque != given { sendBlack(to: context) }
        // Closing it waits for what is still being encoded: nobody else is to wait for that too.
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
