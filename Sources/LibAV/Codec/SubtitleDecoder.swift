internal import CFFmpeg

/// A decoder of subtitles (`avcodec_decode_subtitle2`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
struct SubtitleDecoder: ~Copyable, @unchecked Sendable {
    let context: UnsafeMutablePointer<AVCodecContext>

    private init(context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    deinit { freeCodec(context) }

    /// Opens the decoder of a track. Throws if it isn't available. `isStrict`: whether damage is an error; otherwise
    /// libavcodec omits what it can't decode.
    static func open(
        _ source: CodecParameters, timeBase: Rational, isStrict: Bool
    ) throws(AVError) -> SubtitleDecoder {
        let codec = try InputLimits.decoder(of: source)
        let context = try allocateCodec(codec)
        do throws(AVError) {
            try check(avcodec_parameters_to_context(context, source.raw), "avcodec_parameters_to_context")
            context.pointee.pkt_timebase = timeBase.av
            if isStrict { context.pointee.err_recognition |= AV_EF_EXPLODE }
            try check(avcodec_open2(context, codec, nil), "avcodec_open2", context: context)
        } catch {
            freeCodec(context)
            throw error
        }
        return SubtitleDecoder(context: context)
    }

    /// Decodes a packet, and calls `body` with the event, which is freed afterwards. Returns nil if the packet completes no
    /// event.
    func decode<Value>(
        _ packet: borrowing Packet, _ body: (inout AVSubtitle) throws(AVError) -> Value
    ) throws(AVError) -> Value? {
        var subtitle = AVSubtitle()
        var hasSubtitle: Int32 = 0
        try check(
            avcodec_decode_subtitle2(context, &subtitle, &hasSubtitle, packet.raw), "decoding",
            context: context)
        guard hasSubtitle != 0 else { return nil }
        defer { avsubtitle_free(&subtitle) }
        return try body(&subtitle)
    }
}
