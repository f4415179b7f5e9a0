internal import CFFmpeg
internal import CLinux

/// An open encoder (`AVCodecContext`), confined to one queue.
///
/// Unchecked `Sendable`: the noncopyable value is the only owner of the pointer.
package struct FrameEncoder: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<AVCodecContext>
    /// Time base of the packets' timestamps.
    package let timeBase: Rational
    /// Codec parameters of the packets, for the muxer.
    package let parameters: CodecParameters
    /// Number of frames; nil unless decoding times depend on it.
    private let length: StreamLength?

    /// The number of frames sent to an encoder that computes wrong decoding times for a few of them.
    private final class StreamLength {
        var frames = 0
        var isComplete = false

        /// Whether the stream is too short for a frame to be reordered, so that frames are decoded when they are presented.
        var isShort: Bool { isComplete && frames <= 2 }
    }

    private init(
        adopting context: UnsafeMutablePointer<AVCodecContext>, timeBase: Rational,
        parameters: CodecParameters, mistimesShortStreams: Bool
    ) {
        self.context = context
        self.timeBase = timeBase
        self.parameters = parameters
        length = mistimesShortStreams ? StreamLength() : nil
    }

    deinit { FrameEncoder.free(context) }

    private static func free(_ context: UnsafeMutablePointer<AVCodecContext>) {
        av_freep(&context.pointee.stats_in)
        SharedEncoder.free(context)
    }

    /// Opens an encoder (`avcodec_open2`). An option that the encoder doesn't support is an error.
    package static func open(_ configuration: EncoderConfiguration, globalHeaders: Bool) throws(AVError)
        -> FrameEncoder
    {
        guard let codec = avcodec_find_encoder_by_name(configuration.encoder) else {
            throw AVError(
                code: tandem_encoder_not_found, operation: "avcodec_find_encoder_by_name",
                detail: "the encoder \(configuration.encoder) is not available in this build")
        }
        let context = try allocateCodec(codec)
        do throws(AVError) {
            try apply(configuration, to: context)
            if case .deviceFrames(let device)? = configuration.model?.requirement {
                try DeviceFrames.attach(device, to: context)
            }
            if globalHeaders { context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER }
            let complete = completed(configuration, for: context)
            try apply(complete.parameters, to: context)
            var options = AVDictionaryOwner(complete.options.map { ($0.key, $0.value) })
            let code = SharedEncoder.serialized(context, as: configuration.encoder) {
                withoutRealTime { avcodec_open2(context, codec, &options.raw) }
            }
            try check(code, "avcodec_open2", context: context)
            if let unknown = options.keys.first {
                throw AVError(
                    code: tandem_option_not_found, operation: "avcodec_open2",
                    detail: "\(configuration.encoder) doesn't support the option \(unknown)")
            }
            // An ignored level is an error only if one was requested.
            let hasLevel = configuration.options.contains { $0.key == "level" }
            if let ignoredKeys = LogBridge.takeIgnoredOption(of: context),
                hasLevel || !ignoredKeys.contains(LogBridge.levelLimit)
            {
                throw AVError(code: tandem_einval, operation: "avcodec_open2", detail: ignoredKeys)
            }
            let parameters = try CodecParameters(context: context)
            return FrameEncoder(
                adopting: context, timeBase: Rational(context.pointee.time_base), parameters: parameters,
                mistimesShortStreams: configuration.model?.operation.mistimesShortStreams == true)
        } catch {
            free(context)
            throw error
        }
    }

    /// Runs `body` without the capability to raise priorities. If permitted, as for root in containers, SVT-AV1 sets
    /// real-time priority on the thread that opens it. Its threads and all child processes inherit the priority and
    /// starve others.
    private static func withoutRealTime<Result>(_ body: () -> Result) -> Result {
        guard tandem_drop_priority() != 0 else { return body() }
        defer { tandem_restore_priority() }
        return body()
    }

    /// Returns the configuration with the additional settings for bottom field first and for the pass.
    private static func completed(
        _ configuration: EncoderConfiguration, for context: UnsafeMutablePointer<AVCodecContext>
    ) -> EncoderConfiguration {
        var result = configuration
        let model = configuration.model
        if let order = model?.frames.bottomFieldFirst, configuration.isInterlaced,
            configuration.fieldOrder == .bottomFirst
        {
            result.set(order.parameter, to: "1", in: order.option)
        }
        guard let pass = configuration.pass else { return result }
        let (number, path): (Int, String)
        switch pass {
        case .first(let statistics): (number, path) = (1, statistics)
        case .second(let statistics, let text):
            (number, path) = (2, statistics)
            // Freed together with the context; see `free`.
            if let text { context.pointee.stats_in = av_strdup(text) }
        }
        switch model?.twoPasses?.statistics {
        case .fileInParameters(let option):
            result.set("pass", to: "\(number)", in: option)
            result.set("stats", to: path, in: option)
            return result
        case .file(let option): result.options.append(MetadataEntry(key: option, value: path))
        case .text, nil: break
        }
        context.pointee.flags |= number == 1 ? AV_CODEC_FLAG_PASS1 : AV_CODEC_FLAG_PASS2
        return result
    }

    /// Sets options whose value is a list, entry by entry (`av_opt_set_dict_val`).
    private static func apply(
        _ parameters: [EncoderParameters], to context: UnsafeMutablePointer<AVCodecContext>
    ) throws(AVError) {
        for list in parameters {
            let entries = AVDictionaryOwner(list.entries.map { ($0.key, $0.value) })
            try check(
                av_opt_set_dict_val(context.pointee.priv_data, list.option, entries.raw, 0),
                "av_opt_set_dict_val", context: context)
        }
    }

    /// Statistics of a first pass, available after draining; nil if the encoder writes them to a file.
    package var statistics: String? { context.pointee.stats_out.map { String(cString: $0) } }

    private static func apply(
        _ configuration: EncoderConfiguration, to context: UnsafeMutablePointer<AVCodecContext>
    ) throws(AVError) {
        context.pointee.time_base = configuration.timeBase.av
        context.pointee.thread_count = Int32(clamping: configuration.threads)
        if let rate = configuration.bitRate { context.pointee.bit_rate = rate }
        if let rate = configuration.maxBitRate { context.pointee.rc_max_rate = rate }
        if let size = configuration.bufferSize { context.pointee.rc_buffer_size = Int32(clamping: size) }
        if let level = configuration.level { context.pointee.level = Int32(clamping: level) }
        if let quantizer = configuration.fixedQuantizer {
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = Int32(
                clamping: quantizer.multiplied(upToLimit: Int(FF_QP2LAMBDA)))
        }
        if let quality = configuration.quality {
            context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            context.pointee.global_quality = Int32(
                clamping: quality.multiplied(upToLimit: Int(FF_QP2LAMBDA)) / 1000)
        }
        if let bits = configuration.bitsPerSample {
            context.pointee.bits_per_raw_sample = Int32(clamping: bits)
        }
        if configuration.mediaType == .video {
            context.pointee.width = Int32(clamping: configuration.width)
            context.pointee.height = Int32(clamping: configuration.height)
            context.pointee.pix_fmt = configuration.pixelFormat.av
            if let rate = configuration.frameRate { context.pointee.framerate = rate.av }
            if let aspect = configuration.sampleAspectRatio {
                context.pointee.sample_aspect_ratio = aspect.av
            }
            configuration.color.apply(to: context)
            if let interval = configuration.keyframeInterval {
                context.pointee.gop_size = Int32(clamping: interval)
            }
            if configuration.isInterlaced {
                context.pointee.flags |= AV_CODEC_FLAG_INTERLACED_DCT | AV_CODEC_FLAG_INTERLACED_ME
            }
            if let order = configuration.fieldOrder { context.pointee.field_order = order.av }
        } else {
            context.pointee.sample_rate = configuration.sampleRate
            context.pointee.sample_fmt = configuration.sampleFormat.av
            if let layout = configuration.channelLayout { try layout.copy(to: &context.pointee.ch_layout) }
        }
    }

    /// Number of samples per channel that the encoder requires in each frame; 0 for any number.
    package var frameSize: Int {
        context.pointee.codec.pointee.capabilities & AV_CODEC_CAP_VARIABLE_FRAME_SIZE != 0
            ? 0 : Int(context.pointee.frame_size)
    }

    /// Encoder delay at the start, in samples (`initial_padding`).
    package var initialPadding: Int { Int(context.pointee.initial_padding) }

    /// Whether the encoder outputs delayed packets when it is drained (`AV_CODEC_CAP_DELAY`).
    package var drainsByItself: Bool {
        context.pointee.codec.pointee.capabilities & AV_CODEC_CAP_DELAY != 0
    }

    /// Sends a frame. Returns false if packets must be received first (`avcodec_send_frame`).
    package func send(_ frame: borrowing Frame) throws(AVError) -> Bool {
        setColor(frame)
        var uploaded: UnsafeMutablePointer<AVFrame>?
        defer { av_frame_free(&uploaded) }
        if context.pointee.hw_frames_ctx != nil {
            uploaded = try DeviceFrames.upload(frame.raw, for: context)
        }
        let code = avcodec_send_frame(context, uploaded ?? frame.raw)
        if code == tandem_eagain { return false }
        try check(code, "encoding", context: context)
        SharedEncoder.noteFrame(context)
        length?.frames += 1
        return true
    }

    /// Sets the color properties of a frame to those of the encoder. Some encoders (ProRes) write the properties of
    /// each frame, which are incomplete after conversions.
    private func setColor(_ frame: borrowing Frame) {
        let (own, raw) = (context, frame.raw)
        guard own.pointee.codec_type == AVMEDIA_TYPE_VIDEO else { return }
        if own.pointee.color_primaries != AVCOL_PRI_UNSPECIFIED {
            raw.pointee.color_primaries = own.pointee.color_primaries
        }
        if own.pointee.color_trc != AVCOL_TRC_UNSPECIFIED { raw.pointee.color_trc = own.pointee.color_trc }
        if own.pointee.colorspace != AVCOL_SPC_UNSPECIFIED { raw.pointee.colorspace = own.pointee.colorspace }
        if own.pointee.color_range != AVCOL_RANGE_UNSPECIFIED {
            raw.pointee.color_range = own.pointee.color_range
        }
    }

    /// Starts draining: the remaining packets can then be received.
    package func sendEnd() throws(AVError) {
        length?.isComplete = true
        if SharedEncoder.endsWithoutFrames(context) { return }
        let code = avcodec_send_frame(context, nil)
        if code != tandem_eof { try check(code, "encoding", context: context) }
    }

    /// Receives the next packet (`avcodec_receive_packet`).
    package func receive(into packet: borrowing Packet) throws(AVError) -> CodecOutput {
        if SharedEncoder.hasEndedWithoutFrames(context) { return .ended }
        let code = avcodec_receive_packet(context, packet.raw)
        Activity.note()
        if code == tandem_eagain { return .needsInput }
        if code == tandem_eof { return .ended }
        try check(code, "encoding", context: context)
        if length?.isShort == true { packet.dts = packet.pts }
        return .ready
    }
}
