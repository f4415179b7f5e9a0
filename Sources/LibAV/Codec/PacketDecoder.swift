internal import CFFmpeg

/// The result of receiving from a codec, filter or filter graph.
package enum CodecOutput: Sendable {
    /// The frame or packet contains the next output.
    case ready
    /// More input is required.
    case needsInput
    /// The end of the output is reached.
    case ended
}

/// An open decoder (`AVCodecContext`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct PacketDecoder: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVCodecContext>

    /// Whether errors are read from the log: the FFV1 decoder conceals data with a wrong checksum and only logs the
    /// error.
    private var readsLog = false

    private init(adopting context: UnsafeMutablePointer<AVCodecContext>) { self.context = context }

    deinit { freeCodec(context) }

    /// Opens the decoder of a stream. With `threads` 0, libavcodec chooses the number. `isReduced` requests frames of
    /// an eighth of the width and height, if the decoder supports that (`AVCodecContext.lowres`). With `isStrict`,
    /// damaged data is an error (`AV_EF_EXPLODE`).
    package static func open(
        _ parameters: CodecParameters, timeBase: Rational, threads: Int = 0,
        limits: InputLimits, isReduced: Bool = false, isStrict: Bool = false
    ) throws(AVError) -> PacketDecoder {
        let codec = try InputLimits.decoder(of: parameters)
        let context = try allocateCodec(codec)
        var decoder = PacketDecoder(adopting: context)
        try check(avcodec_parameters_to_context(context, parameters.raw), "avcodec_parameters_to_context")
        context.pointee.pkt_timebase = timeBase.av
        context.pointee.thread_count = Int32(clamping: threads)
        context.pointee.max_pixels = limits.maxPixels
        // A stream may begin between keyframes. Frames with missing references are output nevertheless;
        // `Frame.isDamaged` reports errors.
        context.pointee.flags |= AV_CODEC_FLAG_OUTPUT_CORRUPT
        // For codecs with checksums, a mismatch is an error, even if the decoder outputs a frame.
        if parameters.traits.hasChecksums {
            context.pointee.err_recognition |= AV_EF_CRCCHECK | AV_EF_EXPLODE
            // Each frame thread would log with a separate context.
            context.pointee.thread_type = FF_THREAD_SLICE
            decoder.readsLog = true
        }
        if isStrict { context.pointee.err_recognition |= AV_EF_EXPLODE }
        if isReduced { context.pointee.lowres = min(3, Int32(codec.pointee.max_lowres)) }
        try check(avcodec_open2(context, codec, nil), "avcodec_open2", context: context)
        return decoder
    }

    /// Number of times that width and height are halved (`lowres`).
    package var reduction: Int { Int(context.pointee.lowres) }

    /// Number of packets by which errors are delayed. With frame threading, the error of a packet is reported when a
    /// later one is sent (`active_thread_type`).
    package var threadDelay: Int {
        context.pointee.active_thread_type & FF_THREAD_FRAME != 0
            ? max(0, Int(context.pointee.thread_count) - 1) : 0
    }

    /// Sends a packet. Returns false if output must be received first (`avcodec_send_packet`).
    package func send(_ packet: borrowing Packet) throws(AVError) -> Bool {
        let code = avcodec_send_packet(context, packet.raw)
        if code == tandem_eagain { return false }
        try check(code, "decoding", context: context)
        return true
    }

    /// Starts draining: the remaining frames can then be received.
    package func sendEnd() throws(AVError) {
        let code = avcodec_send_packet(context, nil)
        if code != tandem_eof { try check(code, "decoding", context: context) }
    }

    /// Sets whether frames that no other frame references are skipped (`AVDISCARD_NONREF`) or decoded. Applies to
    /// packets that are sent afterwards.
    package func setSkipping(unreferenced: Bool) {
        context.pointee.skip_frame = unreferenced ? AVDISCARD_NONREF : AVDISCARD_DEFAULT
    }

    /// Discards the decoder's state; the next packet must be a keyframe (`avcodec_flush_buffers`).
    package func reset() { avcodec_flush_buffers(context) }

    /// Receives the next frame (`avcodec_receive_frame`).
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
