internal import CFFmpeg

/// Allocates a codec context with default values (`avcodec_alloc_context3`). The caller frees it.
func allocateCodec(_ codec: UnsafePointer<AVCodec>) throws(AVError) -> UnsafeMutablePointer<AVCodecContext> {
    guard let context = LogBridge.fresh(avcodec_alloc_context3(codec)) else {
        throw .outOfMemory("avcodec_alloc_context3")
    }
    return context
}

/// Frees a codec context (`avcodec_free_context`).
func freeCodec(_ context: UnsafeMutablePointer<AVCodecContext>) {
    var copy: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&copy)
}

extension InputLimits {
    /// Returns the decoder for codec parameters, with support for a separate alpha plane if the pixel format has
    /// alpha. Throws if this build has no decoder for the codec, or if the decoder isn't allowed.
    static func decoder(of parameters: CodecParameters) throws(AVError) -> UnsafePointer<AVCodec> {
        if parameters.pixelFormat.hasAlpha, let name = alphaDecoder(of: parameters.raw.pointee.codec_id),
            let codec = avcodec_find_decoder_by_name(name)
        {
            return codec
        }
        guard let codec = avcodec_find_decoder(parameters.raw.pointee.codec_id) else {
            throw AVError(
                code: tandem_einval, operation: "avcodec_find_decoder",
                detail: "this build has no decoder for \(parameters.codecName)")
        }
        guard uses(codec) else {
            throw AVError(
                code: tandem_eacces, operation: "avcodec_find_decoder",
                detail: "the decoder \(String(cString: codec.pointee.name)) is not allowed")
        }
        return codec
    }

    /// Returns whether a decoder is allowed: all PCM decoders, and those in `decoders`.
    static func uses(_ decoder: UnsafePointer<AVCodec>) -> Bool {
        let name = String(cString: decoder.pointee.name)
        return decoders.contains(name) || name.hasPrefix("pcm_")
    }

    /// Returns the name of the decoder that outputs the alpha plane of a codec; nil if there is none. libavcodec's
    /// own VP8 and VP9 decoders omit the plane, because it is coded as a separate stream.
    private static func alphaDecoder(of codec: AVCodecID) -> String? {
        switch codec {
        case AV_CODEC_ID_VP8: "libvpx"
        case AV_CODEC_ID_VP9: "libvpx-vp9"
        default: nil
        }
    }

    /// Returns whether this build has a decoder that outputs a separately stored alpha plane.
    static func decodesAlpha(of parameters: CodecParameters) -> Bool {
        alphaDecoder(of: parameters.raw.pointee.codec_id).map { avcodec_find_decoder_by_name($0) != nil }
            == true
    }
}
