internal import CFFmpeg

/// Frees a codec's context and what was logged of it (`avcodec_free_context`).
func freeCodec(_ context: UnsafeMutablePointer<AVCodecContext>) {
    LogBridge.forget(context)
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
