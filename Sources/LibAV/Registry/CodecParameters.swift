internal import CFFmpeg

/// The parameters of a track's packets (`AVCodecParameters`), which don't change after initialization.
///
/// Unchecked `Sendable`: only the initializers write to the pointee.
package final class CodecParameters: @unchecked Sendable {
    let raw: UnsafeMutablePointer<AVCodecParameters>

    init(copying source: UnsafePointer<AVCodecParameters>) throws(AVError) {
        guard let raw = avcodec_parameters_alloc() else { throw .outOfMemory("avcodec_parameters_alloc") }
        self.raw = raw
        try check(avcodec_parameters_copy(raw, source), "avcodec_parameters_copy")
    }

    init(context: UnsafePointer<AVCodecContext>) throws(AVError) {
        guard let raw = avcodec_parameters_alloc() else { throw .outOfMemory("avcodec_parameters_alloc") }
        self.raw = raw
        try check(avcodec_parameters_from_context(raw, context), "avcodec_parameters_from_context")
    }

    /// Returns parameters of uncompressed frames, for generated sources.
    package static func rawVideo(
        width: Int, height: Int, pixelFormat: PixelFormat, sampleAspectRatio: Rational = Rational(1, 1),
        color: ColorDescription = ColorDescription()
    ) throws(AVError) -> CodecParameters {
        var parameters = AVCodecParameters()
        parameters.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.codec_id = AV_CODEC_ID_RAWVIDEO
        parameters.format = pixelFormat.av.rawValue
        parameters.width = Int32(clamping: width)
        parameters.height = Int32(clamping: height)
        parameters.profile = FF_PROFILE_UNKNOWN
        parameters.level = FF_LEVEL_UNKNOWN
        parameters.field_order = AV_FIELD_PROGRESSIVE
        // 0 would mean RGB, or a reserved value.
        parameters.color_space = AVCOL_SPC_UNSPECIFIED
        parameters.color_primaries = AVCOL_PRI_UNSPECIFIED
        parameters.color_trc = AVCOL_TRC_UNSPECIFIED
        parameters.sample_aspect_ratio = sampleAspectRatio.av
        color.apply(to: &parameters)
        return try CodecParameters(copying: &parameters)
    }

    /// Returns parameters of uncompressed audio, for generated sources.
    package static func rawAudio(_ format: AudioFormat) throws(AVError) -> CodecParameters {
        var parameters = AVCodecParameters()
        parameters.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.codec_id = av_get_pcm_codec(format.sampleFormat.av, -1)
        parameters.format = format.sampleFormat.av.rawValue
        parameters.sample_rate = format.sampleRate
        parameters.profile = FF_PROFILE_UNKNOWN
        parameters.level = FF_LEVEL_UNKNOWN
        try format.layout.copy(to: &parameters.ch_layout)
        defer { av_channel_layout_uninit(&parameters.ch_layout) }
        return try CodecParameters(copying: &parameters)
    }

    /// Returns parameters of coded video. Throws if `codec` isn't a video codec, or if the size is invalid.
    package static func video(
        codec: String, width: Int, height: Int, pixelFormat: PixelFormat, extradata: [UInt8]
    ) throws(AVError) -> CodecParameters {
        var parameters = AVCodecParameters()
        (parameters.codec_id, parameters.codec_type) = (try id(of: codec, .video), AVMEDIA_TYPE_VIDEO)
        guard width > 0, height > 0,
            av_image_check_size(UInt32(clamping: width), UInt32(clamping: height), 0, nil) >= 0
        else {
            throw AVError(code: tandem_einval, operation: "av_image_check_size", detail: "\(width)x\(height)")
        }
        parameters.format = pixelFormat.av.rawValue
        (parameters.width, parameters.height) = (Int32(clamping: width), Int32(clamping: height))
        parameters.color_space = AVCOL_SPC_UNSPECIFIED
        parameters.color_primaries = AVCOL_PRI_UNSPECIFIED
        parameters.color_trc = AVCOL_TRC_UNSPECIFIED
        (parameters.profile, parameters.level) = (FF_PROFILE_UNKNOWN, FF_LEVEL_UNKNOWN)
        return try CodecParameters(copying: &parameters).with(
            extradata: extradata, level: nil, codecTag: nil)
    }

    /// Returns parameters of coded audio. `frameSize` is the number of samples per packet; 0 if it varies. Throws if
    /// `codec` isn't an audio codec, or without a sample rate or channels.
    package static func audio(
        codec: String, format: AudioFormat, frameSize: Int, extradata: [UInt8]
    ) throws(AVError) -> CodecParameters {
        var parameters = AVCodecParameters()
        (parameters.codec_id, parameters.codec_type) = (try id(of: codec, .audio), AVMEDIA_TYPE_AUDIO)
        guard format.sampleRate > 0, format.layout.channels > 0 else {
            throw AVError(
                code: tandem_einval, operation: "avcodec_parameters", detail: "no rate or no channels")
        }
        parameters.format = format.sampleFormat.av.rawValue
        parameters.sample_rate = format.sampleRate
        parameters.frame_size = Int32(clamping: max(0, frameSize))
        (parameters.profile, parameters.level) = (FF_PROFILE_UNKNOWN, FF_LEVEL_UNKNOWN)
        let bits = av_get_exact_bits_per_sample(parameters.codec_id)
        parameters.bits_per_coded_sample = bits
        parameters.block_align = bits * Int32(clamping: format.layout.channels) / 8
        try format.layout.copy(to: &parameters.ch_layout)
        defer { av_channel_layout_uninit(&parameters.ch_layout) }
        return try CodecParameters(copying: &parameters).with(
            extradata: extradata, level: nil, codecTag: nil)
    }

    /// Returns parameters of text subtitles without codec headers. Throws if `codec` isn't a subtitle codec.
    package static func subtitles(codec: String) throws(AVError) -> CodecParameters {
        var parameters = AVCodecParameters()
        (parameters.codec_id, parameters.codec_type) = (try id(of: codec, .subtitle), AVMEDIA_TYPE_SUBTITLE)
        parameters.format = -1
        (parameters.profile, parameters.level) = (FF_PROFILE_UNKNOWN, FF_LEVEL_UNKNOWN)
        return try CodecParameters(copying: &parameters)
    }

    private static func id(of codec: String, _ type: MediaType) throws(AVError) -> AVCodecID {
        guard let descriptor = avcodec_descriptor_get_by_name(codec),
            MediaType(descriptor.pointee.type) == type
        else {
            throw AVError(
                code: tandem_einval, operation: "avcodec_descriptor_get_by_name",
                detail: "unknown \(type.rawValue) codec `\(codec)`")
        }
        return descriptor.pointee.id
    }

    deinit {
        var copy: UnsafeMutablePointer<AVCodecParameters>? = raw
        avcodec_parameters_free(&copy)
    }

    /// Size of `extradata` in bytes.
    package var extradataSize: Int { Int(max(0, raw.pointee.extradata_size)) }
    /// Codec headers, as stored in the container; empty if there are none.
    package var extradata: [UInt8] {
        guard let bytes = raw.pointee.extradata, raw.pointee.extradata_size > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(raw.pointee.extradata_size)))
    }

    /// Returns the parameters with other codec headers. A nil `level` keeps the level. `codecTag` is a four-character
    /// code; nil lets the muxer choose it.
    package func with(extradata: [UInt8], level: Int?, codecTag: String?) throws(AVError) -> CodecParameters {
        let copy = try CodecParameters(copying: raw)
        let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard let memory = av_mallocz(extradata.count + padding) else { throw .outOfMemory("av_mallocz") }
        let bytes = memory.assumingMemoryBound(to: UInt8.self)
        for (index, byte) in extradata.enumerated() { bytes[index] = byte }
        av_freep(&copy.raw.pointee.extradata)
        copy.raw.pointee.extradata = bytes
        copy.raw.pointee.extradata_size = Int32(clamping: extradata.count)
        if let level { copy.raw.pointee.level = Int32(clamping: level) }
        copy.raw.pointee.codec_tag = 0
        if let codecTag {
            for (index, byte) in codecTag.utf8.prefix(4).enumerated() {
                copy.raw.pointee.codec_tag |= UInt32(byte) << (8 * UInt32(index))
            }
        }
        return copy
    }

    /// Returns the parameters with the pixel format `yuva420p`, for an alpha plane that is stored separately.
    func withAlpha() throws(AVError) -> CodecParameters {
        let copy = try CodecParameters(copying: raw)
        copy.raw.pointee.format = AV_PIX_FMT_YUVA420P.rawValue
        return copy
    }

    /// Returns the parameters with the profile of synchronous KLV metadata (`FF_PROFILE_KLVA_SYNC`).
    package func asSynchronousMetadata() throws(AVError) -> CodecParameters {
        let copy = try CodecParameters(copying: raw)
        copy.raw.pointee.profile = FF_PROFILE_KLVA_SYNC
        return copy
    }

    /// Returns the parameters with another sample rate.
    package func with(sampleRate: Int32) throws(AVError) -> CodecParameters {
        let copy = try CodecParameters(copying: raw)
        copy.raw.pointee.sample_rate = sampleRate
        return copy
    }

    /// `codecName` of parameters without a codec.
    package static let unknownCodec = "none"

    /// Media type; `data` for unknown types.
    package var mediaType: MediaType { MediaType(raw.pointee.codec_type) }
    /// Name of the codec (`h264`); `none` if unknown.
    package var codecName: String { String(cString: avcodec_get_name(raw.pointee.codec_id)) }
    /// Name of the profile (`High`); nil if FFmpeg has no name for it.
    package var profileName: String? {
        avcodec_profile_name(raw.pointee.codec_id, raw.pointee.profile).map { String(cString: $0) }
    }
    /// Profile in FFmpeg's numbering (`FF_PROFILE_…`); nil if unknown.
    package var profile: Int? { raw.pointee.profile >= 0 ? Int(raw.pointee.profile) : nil }
    /// Level in the codec's numbering (41 for H.264's 4.1); nil if unknown.
    package var level: Int? { raw.pointee.level >= 0 ? Int(raw.pointee.level) : nil }
    /// Four-character code in the container; nil if there is none or it isn't printable.
    package var codecTag: String? {
        let tag = raw.pointee.codec_tag
        guard tag != 0 else { return nil }
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: tag >> (8 * UInt32($0))) }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
    /// Bitrate in bits/s; 0 if unknown.
    package var bitRate: Int64 { raw.pointee.bit_rate }
    /// Coded width in pixels.
    package var width: Int { Int(raw.pointee.width) }
    /// Coded height in pixels.
    package var height: Int { Int(raw.pointee.height) }
    /// Pixel format; `none` if unknown.
    package var pixelFormat: PixelFormat { PixelFormat(AVPixelFormat(rawValue: raw.pointee.format)) }
    /// Sample format; `none` if unknown.
    package var sampleFormat: SampleFormat { SampleFormat(AVSampleFormat(rawValue: raw.pointee.format)) }
    /// Samples per second; 0 for video.
    package var sampleRate: Int32 { raw.pointee.sample_rate }
    /// Channel layout of audio; without channels for video.
    package var channelLayout: ChannelLayout { ChannelLayout(raw.pointee.ch_layout) }
    /// Number of samples per packet; 0 if it varies.
    package var frameSize: Int { Int(raw.pointee.frame_size) }
    /// Returns the number of samples that a packet of `count` bytes decodes to (`av_get_audio_frame_duration2`); 0 if
    /// it depends on the packet's contents.
    package func sampleCount(ofBytes count: Int) -> Int {
        Int(av_get_audio_frame_duration2(raw, Int32(clamping: count)))
    }
    /// Number of samples of encoder delay at the start, which are not presented.
    package var initialPadding: Int { Int(raw.pointee.initial_padding) }
    /// Number of frames by which decoding order may precede presentation order (`video_delay`).
    package var reorderDelay: Int { Int(raw.pointee.video_delay) }
    /// Pixel aspect ratio; 0/1 if unspecified.
    package var sampleAspectRatio: Rational { Rational(raw.pointee.sample_aspect_ratio) }
    /// Color properties; unspecified ones are nil.
    package var color: ColorDescription { ColorDescription(parameters: raw.pointee) }
    /// Whether frames are interlaced; nil if unknown.
    package var isInterlaced: Bool? {
        switch raw.pointee.field_order {
        case AV_FIELD_UNKNOWN: nil
        case AV_FIELD_PROGRESSIVE: false
        default: true
        }
    }
    /// Field order; nil for progressive frames, and if unknown.
    package var fieldOrder: FieldOrder? { FieldOrder(raw.pointee.field_order) }
    /// Size of one PCM sample of all channels in bytes; 0 for other codecs (`av_get_bits_per_sample`).
    package var bytesPerFrame: Int {
        guard traits.isCutAtSamples else { return 0 }
        return Int(av_get_bits_per_sample(raw.pointee.codec_id)) / 8
            * max(0, Int(raw.pointee.ch_layout.nb_channels))
    }
    /// Whether the compression is lossless (`AV_CODEC_PROP_LOSSLESS` without `AV_CODEC_PROP_LOSSY`).
    package var isLossless: Bool {
        guard let descriptor = avcodec_descriptor_get(raw.pointee.codec_id) else { return false }
        return descriptor.pointee.props & (AV_CODEC_PROP_LOSSLESS | AV_CODEC_PROP_LOSSY)
            == AV_CODEC_PROP_LOSSLESS
    }
    /// Whether this build contains an allowed decoder (`InputLimits.decoders`).
    package var isDecodable: Bool {
        let type = raw.pointee.codec_type
        guard type == AVMEDIA_TYPE_VIDEO || type == AVMEDIA_TYPE_AUDIO else {
            return avcodec_find_decoder(raw.pointee.codec_id) != nil
        }
        return (try? InputLimits.decoder(of: self)) != nil
    }
}
