internal import CFFmpeg

/// What a codec answers when asked for its next output.
package enum CodecOutput: Sendable {
    /// It was put into the frame or packet given.
    case ready
    /// It wants input first.
    case needsInput
    /// It has given all.
    case ended
}

/// An open decoder (`AVCodecContext`), confined to one queue.
///
/// Unchecked `Sendable`: one owner, which moves with the value.
package struct PacketDecoder: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    /// FFV1 conceals what its checksum shows, and only its log tells.
    private var readsLog = false

    private init(adopting context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    deinit { freeCodec(context) }

    /// Opens the decoder of a stream. `threads` 0 lets libavcodec choose. `isReduced`: frames an eighth of their size, where the decoder
    /// can make them (`AVCodecContext.lowres`).
    package static func open(
        _ parameters: CodecParameters, timeBase: Rational, threads: Int = 0,
        limits: InputLimits, isReduced: Bool = false
    ) throws(AVError) -> PacketDecoder {
        let codec = try InputLimits.decoder(of: parameters)
        let context = try allocateCodec(codec)
        var decoder = PacketDecoder(adopting: context)
        try check(avcodec_parameters_to_context(context, parameters.raw), "avcodec_parameters_to_context")
        context.pointee.pkt_timebase = timeBase.av
        context.pointee.thread_count = Int32(clamping: threads)
        context.pointee.max_pixels = limits.maxPixels
        // A stream may begin between key frames; what can be shown of it then is shown. Errors are seen by
        // `Frame.isDamaged`.
        context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
        // Codecs that carry checksums of their own: what they show is damage, even where a frame comes out.
        if parameters.traits.hasChecksums {
            context.pointee.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
            // Frame threads would log under contexts of their own.
            context.pointee.thread_type = FF_THREAD_SLICE
            decoder.readsLog = true
        }
        if isReduced { context.pointee.lowres = min(3, Int32(codec.pointee.max_lowres)) }
        try check(avcodec_open2(context, codec, nil), "avcodec_open2", context: context)
        return decoder
    }

    /// Halvings of the frames' sides.
    package var reduction: Int { Int(context.pointee.lowres) }

    /// How many packets it takes before it tells what became of the first: its frame threads work on as many at a time, and what goes
    /// wrong with one is said when a later one is given (`active_thread_type`).
    package var threadDelay: Int {
        context.pointee.active_thread_type & FF_THREAD_FRAME != 0
            ? max(0, Int(context.pointee.thread_count) - 1) : 0
    }

    /// Gives it a packet, or nil at the end. False when it wants its output taken first (`avcodec_send_packet`).
    package func send(_ packet: borrowing Packet) throws(AVError) -> Bool {
        let code = avcodec_send_packet(context, packet.raw)
        if code == tandem_eagain { return false }
        try check(code, "decoding", context: context)
        return true
    }

    /// Says that no more comes.
    package func sendEnd() throws(AVError) {
        let code = avcodec_send_packet(context, nil)
        if code != tandem_eof { try check(code, "decoding", context: context) }
    }

    /// Packets that no other is decoded from are passed over (`AVDISCARD_NONREF`); asked of each packet when it is given.
    package func passOver(unreferenced: Bool) {
        context.pointee.skip_frame = unreferenced ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
    }

    /// Forgets everything that it was given: what comes next begins anew, at a key frame (`avcodec_flush_buffers`).
    package func reset() { avcodec_flush_buffers(context) }

    /// The next frame (`avcodec_receive_frame`).
    package func receive(into frame: borrowing Frame) throws(AVError) -> CodecOutput {
        let code = avcodec_receive_frame(context, frame.raw)
        Activity.note()
        if code == tandem_eagain { return .needsInput }
        if code == tandem_eof { return .ended }
        try check(code, "decoding", context: context)
        if readsLog, let line = LogBridge.takeLastLine(of: context) {
            throw AVError(code: tandem_invaliddata, operation: "decoding", detail: line)
        }
        return .ready
    }
}
