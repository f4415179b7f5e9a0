public import LibAV

/// What a codec of the job language is, and what its encoder takes.
///
/// libav's own ranges are wider than the encoders' (crf up to FLT_MAX, presets as free strings), so what
/// named settings allow stands here.
public final class CodecInfo: Sendable {
    /// The name in job files.
    public let name: String
    /// Video or audio.
    public let mediaType: MediaType
    /// The codec's libav name, for containers.
    public let libavName: String
    /// Encoders that make it, the preferred one first.
    public let encoders: [String]
    /// Highest `crf`, nil where there is none.
    public let maxCRF: Int?
    /// Range of `qp`, nil where there is none.
    public let qpRange: ClosedRange<Int>?
    /// Takes `bitrate`.
    public let takesBitRate: Bool
    /// Can be lossless.
    public let canBeLossless: Bool
    /// Is lossless whatever is said.
    public let isLossless: Bool
    /// Presets, nil where there are none.
    public let presets: [String]?
    /// Profiles, nil where they can't be chosen.
    public let profiles: [String]?
    /// Levels, nil where they can't be chosen.
    public let levels: [String]?
    /// What happens without any rate control, for the plan.
    public let defaultRate: String
    /// What it can be tuned for, nil where for nothing.
    public let tunes: [String]?
    /// Most B-frames in a row, nil where they can't be chosen.
    public let maxBFrames: Int?
    /// Can look at everything first.
    public let takesTwoPasses: Bool
    /// Range of `quality`, nil where there is none.
    public let qualities: ClosedRange<Int>?
    /// Bits a sample that can be chosen.
    public let bitDepths: [Int]?
    /// What becomes of fields that are left as they are.
    public let fields: FieldCoding
    /// Channel layouts that come out as they went in, where the encoder takes more; nil where all that it takes do.
    private let trueLayouts: [ChannelLayout]?
    /// What its numbers mean whatever is said, nil where the stream or the container says it.
    public let fixedColor: FixedColor?
    /// The first encoder that this build has.
    public let availableEncoder: EncoderInfo?

    init(
        name: String, mediaType: MediaType, libavName: String, encoders: [String], maxCRF: Int? = nil,
        qpRange: ClosedRange<Int>? = nil, takesBitRate: Bool = true, canBeLossless: Bool = false,
        isLossless: Bool = false, presets: [String]? = nil, profiles: [String]? = nil,
        levels: [String]? = nil, defaultRate: String = "", tunes: [String]? = nil, maxBFrames: Int? = nil,
        takesTwoPasses: Bool = false, qualities: ClosedRange<Int>? = nil, bitDepths: [Int]? = nil,
        fields: FieldCoding = .unmarked, fixedColor: FixedColor? = nil,
        layouts: [String]? = nil
    ) {
        self.name = name
        self.mediaType = mediaType
        self.libavName = libavName
        self.encoders = encoders
        self.maxCRF = maxCRF
        self.qpRange = qpRange
        self.takesBitRate = takesBitRate
        self.canBeLossless = canBeLossless
        self.isLossless = isLossless
        self.presets = presets
        self.profiles = profiles
        self.levels = levels
        self.defaultRate = defaultRate
        self.tunes = tunes
        self.maxBFrames = maxBFrames
        self.takesTwoPasses = takesTwoPasses
        self.qualities = qualities
        self.bitDepths = bitDepths
        self.fields = fields
        self.fixedColor = fixedColor
        trueLayouts = layouts.map { $0.compactMap { ChannelLayout(named: $0) } }
        availableEncoder = encoders.lazy.compactMap { EncoderInfo(named: $0) }.first
    }

    /// The channel layouts that it can have by an encoder; empty for any.
    public func layouts(of encoder: EncoderInfo) -> [ChannelLayout] { trueLayouts ?? encoder.layouts }
}

/// What an encoder makes of interlaced pictures.
public enum FieldCoding: Sendable {
    /// Fields, each by itself where that is better, and the stream says so.
    case coded
    /// Lines of whole frames; they lose nothing by it, and stream or container say so.
    case marked
    /// Lines of whole frames; nobody is told.
    case unmarked
}

/// What decoders take a codec's numbers for, without asking.
public enum FixedColor: Sendable {
    /// Full range by the matrix of BT.601, as JFIF has it.
    case jpeg
    /// Limited range.
    case limited
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
            ], defaultRate: "crf 23",
            tunes: ["film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency"],
            maxBFrames: 16, takesTwoPasses: true, fields: .coded),
        CodecInfo(
            name: "hevc", mediaType: .video, libavName: "hevc", encoders: ["libx265"], maxCRF: 51,
            qpRange: 0...51,
            canBeLossless: true, presets: x26xPresets,
            profiles: ["main", "main10", "main12", "main422-10", "main444-8", "main444-10"],
            levels: ["1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"],
            defaultRate: "crf 28",
            tunes: ["psnr", "ssim", "grain", "zerolatency", "fastdecode", "animation"],
            maxBFrames: 16, takesTwoPasses: true),
        CodecInfo(
            name: "vp9", mediaType: .video, libavName: "vp9", encoders: ["libvpx-vp9"], maxCRF: 63,
            canBeLossless: true, presets: ["good", "best", "realtime"], profiles: ["0", "1", "2", "3"],
            levels: ["1", "1.1", "2", "2.1", "3", "3.1", "4", "4.1", "5", "5.1", "5.2", "6", "6.1", "6.2"],
            defaultRate: "crf 32", takesTwoPasses: true),
        CodecInfo(
            name: "av1", mediaType: .video, libavName: "av1", encoders: ["libsvtav1"], maxCRF: 63,
            qpRange: 0...63,
            presets: (0...13).map(String.init), defaultRate: "crf 35"),
        CodecInfo(
            name: "prores", mediaType: .video, libavName: "prores", encoders: ["prores_ks"],
            takesBitRate: false,
            profiles: ["proxy", "lt", "standard", "hq", "4444", "4444xq"], defaultRate: "by profile",
            fields: .coded, fixedColor: .limited),
        CodecInfo(
            name: "mjpeg", mediaType: .video, libavName: "mjpeg", encoders: ["mjpeg"], qpRange: 2...31,
            defaultRate: "qp 3", fixedColor: .jpeg),
        CodecInfo(
            name: "ffv1", mediaType: .video, libavName: "ffv1", encoders: ["ffv1"], takesBitRate: false,
            canBeLossless: true, isLossless: true, defaultRate: "lossless", fields: .marked),
    ]

    /// Audio codecs.
    public static let audio: [CodecInfo] = [
        CodecInfo(
            name: "aac", mediaType: .audio, libavName: "aac", encoders: ["aac"],
            profiles: ["aac_low", "aac_main", "aac_ltp"], defaultRate: "128k",
            // What has no number of its own in AAC is told by an element that few players read, and wrongly so of 5.1(side).
            layouts: ["mono", "stereo", "3.0", "4.0", "5.0", "5.1", "7.1"]),
        CodecInfo(
            name: "opus", mediaType: .audio, libavName: "opus", encoders: ["libopus"],
            defaultRate: "by channels",
            // FFmpeg 5.1 hands 5.0 and 6.1 to libopus in a wrong order.
            layouts: ["mono", "stereo", "3.0", "quad", "5.1", "7.1"]),
        CodecInfo(
            name: "mp3", mediaType: .audio, libavName: "mp3", encoders: ["libmp3lame"], defaultRate: "128k",
            qualities: 0...9),
        CodecInfo(
            name: "ac3", mediaType: .audio, libavName: "ac3", encoders: ["ac3"], defaultRate: "by channels"),
        CodecInfo(
            name: "vorbis", mediaType: .audio, libavName: "vorbis", encoders: ["libvorbis"],
            defaultRate: "by quality", qualities: -1...10,
            // The number of channels says which they are.
            layouts: ["mono", "stereo", "3.0", "quad", "5.0", "5.1", "6.1", "7.1"]),
        lossless("flac", bitDepths: [16, 24]), lossless("pcm_s16le"), lossless("pcm_s24le"),
        lossless("pcm_s32le"),
        lossless("pcm_f32le"),
    ]

    private static func lossless(_ name: String, bitDepths: [Int]? = nil) -> CodecInfo {
        CodecInfo(
            name: name, mediaType: .audio, libavName: name, encoders: [name], takesBitRate: false,
            isLossless: true,
            defaultRate: "lossless", bitDepths: bitDepths)
    }

    /// Names of a kind.
    public static func names(of type: MediaType) -> [String] { (type == .video ? video : audio).map(\.name) }

    private static let byName: [MediaType: [String: CodecInfo]] = [
        .video: Dictionary(uniqueKeysWithValues: video.map { ($0.name, $0) }),
        .audio: Dictionary(uniqueKeysWithValues: audio.map { ($0.name, $0) }),
    ]

    /// The codec of that name.
    public static func codec(_ name: String, of type: MediaType) -> CodecInfo? {
        byName[type]?[name]
    }
}
