/// Names in libavcodec of the codecs that the library's typed settings offer.
package enum CodecKeys {
    package static let proRes = "prores"
    package static let aac = "aac"
    package static let opus = "opus"
    package static let mp3 = "mp3"
    package static let flac = "flac"
    package static let alac = "alac"
    package static let int16 = "pcm_s16le"
    package static let int24 = "pcm_s24le"
    package static let int32 = "pcm_s32le"
    package static let float32 = "pcm_f32le"
}
