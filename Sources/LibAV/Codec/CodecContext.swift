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
        guard let codec = avcodec_find_decoder(parameters.raw.pointee.codec_id) else {
            throw AVError(
                code: tandem_einval, operation: "avcodec_find_decoder",
                detail: "this build has no decoder for \(parameters.codecName)")
        }
        let name = String(cString: codec.pointee.name)
        guard decoders.contains(name) || name.hasPrefix("pcm_") else {
            throw AVError(
                code: tandem_eacces, operation: "avcodec_find_decoder",
                detail: "the decoder \(name) is not one that is used")
        }
        return codec
    }
}
