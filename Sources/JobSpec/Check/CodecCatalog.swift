public import LibAV

/// What a codec of the job language is, and what its encoder takes.
///
/// libav's own ranges are wider than the encoders' (crf up to FLT_MAX, presets as free strings), so what
/// named settings allow stands here.
public struct CodecInfo: Sendable, Hashable {
    /// The name in job files.
    public let name: String
    /// Video or audio.
    public let mediaType: MediaType
    /// The codec's libav name, for containers.
    public let libavName: String
    /// Encoders that make it, the preferred one first.
    public let encoders: [String]
    /// Highest `crf`, nil where there is none.
    public var maxCRF: Int?
    /// Range of `qp`, nil where there is none.
    public var qpRange: ClosedRange<Int>?
    /// Takes `bitrate`.
    public var takesBitRate = true
    /// Can be lossless.
    public var canBeLossless = false
    /// Is lossless whatever is said.
    public var isLossless = false
    /// Presets, nil where there are none.
    public var presets: [String]?
    /// Profiles, nil where they can't be chosen.
    public var profiles: [String]?
    /// Levels, nil where they can't be chosen.
    public var levels: [String]?
    /// What happens without any rate control, for the plan.
    public var defaultRate = ""

    /// The first encoder that this build has.
    public var availableEncoder: EncoderInfo? { encoders.lazy.compactMap { EncoderInfo(named: $0) }.first }
}

/// The codecs of the job language.
public enum CodecCatalog {
    private static let x26xPresets = [
        "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow",
        "placebo",
    ]

    /// Video codecs.
    public static let video: [CodecInfo] = [
        CodecInfo(
            name: "h264", mediaType: .video, libavName: "h264", encoders: ["libx264"], maxCRF: 51,
            qpRange: 0...51,
            canBeLossless: true, presets: x26xPresets,
            profiles: ["baseline", "main", "high", "high10", "high422", "high444"],
            levels: [
                "1", "1b", "1.1", "1.2", "1.3", "2", "2.1", "2.2", "3", "3.1", "3.2", "4", "4.1", "4.2", "5",
                "5.1", "5.2",
                "6", "6.1", "6.2",
            ], defaultRate: "crf 23"),
        CodecInfo(
            name: "hevc", mediaType: .video, libavName: "hevc", encoders: ["libx265"], maxCRF: 51,
            qpRange: 0...51,
            canBeLossless: true, presets: x26xPresets,
            profiles: ["main", "main10", "main12", "main422-10", "main444-8", "main444-10"],
            levels: ["1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"],
            defaultRate: "crf 28"),
        CodecInfo(
            name: "vp9", mediaType: .video, libavName: "vp9", encoders: ["libvpx-vp9"], maxCRF: 63,
            canBeLossless: true, presets: ["good", "best", "realtime"], profiles: ["0", "1", "2", "3"],
            levels: ["1", "1.1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"],
            defaultRate: "crf 32"),
        CodecInfo(
            name: "av1", mediaType: .video, libavName: "av1", encoders: ["libsvtav1"], maxCRF: 63,
            qpRange: 0...63,
            presets: (0...13).map(String.init), defaultRate: "crf 35"),
        CodecInfo(
            name: "prores", mediaType: .video, libavName: "prores", encoders: ["prores_ks"],
            takesBitRate: false,
            profiles: ["proxy", "lt", "standard", "hq", "4444", "4444xq"], defaultRate: "by profile"),
        CodecInfo(
            name: "mjpeg", mediaType: .video, libavName: "mjpeg", encoders: ["mjpeg"], qpRange: 2...31,
            defaultRate: "qp 3"),
        CodecInfo(
            name: "ffv1", mediaType: .video, libavName: "ffv1", encoders: ["ffv1"], takesBitRate: false,
            canBeLossless: true, isLossless: true, defaultRate: "lossless"),
    ]

    /// Audio codecs.
    public static let audio: [CodecInfo] = [
        CodecInfo(name: "aac", mediaType: .audio, libavName: "aac", encoders: ["aac"], defaultRate: "128k"),
        CodecInfo(
            name: "opus", mediaType: .audio, libavName: "opus", encoders: ["libopus"],
            defaultRate: "by channels"),
        CodecInfo(
            name: "mp3", mediaType: .audio, libavName: "mp3", encoders: ["libmp3lame"], defaultRate: "128k"),
        CodecInfo(
            name: "ac3", mediaType: .audio, libavName: "ac3", encoders: ["ac3"], defaultRate: "by channels"),
        CodecInfo(
            name: "vorbis", mediaType: .audio, libavName: "vorbis", encoders: ["libvorbis"],
            defaultRate: "by quality"),
        lossless("flac"), lossless("pcm_s16le"), lossless("pcm_s24le"), lossless("pcm_s32le"),
        lossless("pcm_f32le"),
    ]

    private static func lossless(_ name: String) -> CodecInfo {
        CodecInfo(
            name: name, mediaType: .audio, libavName: name, encoders: [name], takesBitRate: false,
            isLossless: true,
            defaultRate: "lossless")
    }

    /// Names of a kind.
    public static func names(of type: MediaType) -> [String] { (type == .video ? video : audio).map(\.name) }

    /// The codec of that name.
    public static func codec(_ name: String, of type: MediaType) -> CodecInfo? {
        (type == .video ? video : audio).first { $0.name == name }
    }
}
