/// The resource limits for opening sources, which are untrusted.
public struct InputLimits: Hashable, Sendable {
    /// Maximum number of tracks of a file.
    public var maxStreams = 256
    /// Maximum number of pixels of a frame.
    public var maxPixels: Int64 = 16_384 * 16_384
    /// Maximum number of bytes that are read to detect the format.
    public var probeSize: Int64 = 32 << 20
    /// Maximum duration that is read to determine the tracks' parameters, in microseconds.
    public var analyzeDuration: Int64 = 10_000_000

    /// Maximum number of chapters of a file.
    package static let maxChapters = 100_000
    /// Maximum number of tags of a file, and of each of its tracks.
    package static let maxTags = 100_000

    /// Creates the default limits.
    public init() {}

    /// Names of allowed decoders: the decoders of common formats. Rare decoders would increase the attack surface.
    static let decoders: Set<String> = [
        "h264", "hevc", "vp8", "vp9", "libvpx", "libvpx-vp9", "av1", "libdav1d", "libaom-av1", "mpeg1video",
        "mpeg2video", "mpegvideo", "mpeg4", "msmpeg4v1", "msmpeg4", "msmpeg4v2", "h261", "h263", "h263p",
        "flv",
        "wmv1", "wmv2", "wmv3", "vc1", "theora", "prores", "dnxhd", "mjpeg", "mjpegb", "jpeg2000",
        "libopenjpeg",
        "ffv1", "huffyuv", "ffvhuff", "utvideo", "magicyuv", "cfhd", "rawvideo", "v210", "v410", "qtrle",
        "rpza",
        "svq1", "svq3", "cinepak", "dvvideo", "png", "apng", "gif", "bmp", "tiff", "webp", "dirac", "snow",
        "rv10",
        "rv20", "rv30", "rv40", "wrapped_avframe", "hap", "lagarith", "indeo3", "indeo5",
        "aac", "aac_fixed", "aac_latm", "libfdk_aac", "mp3", "mp3float", "mp2", "mp2float", "mp1", "mp1float",
        "ac3",
        "ac3_fixed", "eac3", "dca", "truehd", "mlp", "flac", "alac", "opus", "libopus", "vorbis", "libvorbis",
        "wmav1", "wmav2", "wmapro", "wmalossless", "wmavoice", "ape", "wavpack", "tta", "tak", "amrnb",
        "amrwb",
        "libopencore_amrnb", "libopencore_amrwb", "gsm", "gsm_ms", "libgsm", "libgsm_ms", "speex", "libspeex",
        "nellymoser", "cook", "sipr", "atrac1", "atrac3", "atrac3p", "adpcm_ima_wav", "adpcm_ima_qt",
        "adpcm_ms",
        "adpcm_swf", "adpcm_yamaha", "adpcm_g722", "adpcm_g726", "g723_1", "g729", "qcelp", "qdm2", "mace3",
        "mace6",
        "mov_text", "webvtt", "subrip", "srt", "ass", "ssa", "text", "dvdsub", "dvbsub", "pgssub", "cc_dec",
    ]
}
