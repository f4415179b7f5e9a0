internal import CFFmpeg

/// A codec's context with its defaults (`avcodec_alloc_context3`), the caller's to free.
func allocateCodec(_ codec: UnsafePointer<AVCodec>) throws(AVError) -> UnsafeMutablePointer<AVCodecContext> {
    guard let context = LogBridge.fresh(avcodec_alloc_context3(codec)) else {
        throw .outOfMemory("avcodec_alloc_context3")
    }
    return context
}

/// Frees a codec's context (`avcodec_free_context`).
func freeCodec(_ context: UnsafeMutablePointer<AVCodecContext>) {
    var copy: UnsafeMutablePointer<AVCodecContext>? = context
    avcodec_free_context(&copy)
}

extension InputLimits {
    /// The decoder of a codec, where it is one that real files need.
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
                detail: "the decoder \(String(cString: codec.pointee.name)) is not one that is used")
        }
        return codec
    }

    /// A decoder of frames or audio is one that real files need.
    static func uses(_ decoder: UnsafePointer<AVCodec>) -> Bool {
        let name = String(cString: decoder.pointee.name)
        return decoders.contains(name) || name.hasPrefix("pcm_")
    }

    /// libavcodec's own decoders of these leave out the alpha plane, which is a stream of its own beside the frame's.
    private static func alphaDecoder(of codec: AVCodecID) -> String? {
        switch codec {
        case AV_CODEC_ID_VP8: "libvpx"
        case AV_CODEC_ID_VP9: "libvpx-vp9"
        default: nil
        }
    }

    /// A decoder that gives the alpha plane which lies beside the packets is there.
    static func decodesAlpha(of parameters: CodecParameters) -> Bool {
        alphaDecoder(of: parameters.raw.pointee.codec_id).map { avcodec_find_decoder_by_name($0) != nil }
            == true
    }
}
