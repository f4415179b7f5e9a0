public import LibAV

/// Settings of an encoded video track (AVFoundation's `AVVideoCodecKey`, `AVVideoWidthKey` and compression properties).
public struct VideoSettings: Hashable, Sendable {
    /// A video codec.
    public enum Codec: String, Hashable, Sendable, CaseIterable {
        /// H.264 (AVC).
        case h264
        /// H.265 (HEVC).
        case hevc
        /// VP9, for WebM.
        case vp9
        /// AV1 (AOMedia).
        case av1
        /// Apple ProRes.
        case proRes
    }

    /// Distribution of bits.
    public enum RateControl: Hashable, Sendable {
        /// The default of the codec: a constant quality, or for ProRes the rate of the profile.
        case standard
        /// Constant quality: 0 is the best one, and the maximum depends on the codec (51 for H.264 and HEVC, 63 for VP9
        /// and AV1).
        case crf(Double)
        /// Average bit rate in bits per second, and optionally the maximum bit rate.
        case bitRate(Int64, maximum: Int64? = nil)
        /// Lossless, for H.264, HEVC and VP9.
        case lossless
    }

    /// Ratio of encoding speed to compression.
    public enum Speed: Int, Hashable, Sendable, CaseIterable {
        /// For previews and live video.
        case fastest
        /// Faster than the default.
        case fast
        /// The default.
        case balanced
        /// Smaller files for several times the processor time.
        case slow
    }

    /// Resolution of the color components.
    public enum Chroma: String, Hashable, Sendable, CaseIterable {
        /// Half of the width and height, which all players support.
        case yuv420
        /// Half of the width.
        case yuv422
        /// Full resolution.
        case yuv444
    }

    /// A profile of ProRes, which determines its bit rate.
    public enum ProResProfile: String, Hashable, Sendable, CaseIterable {
        /// ProRes 422 Proxy.
        case proxy
        /// ProRes 422 LT.
        case lt
        /// ProRes 422.
        case standard
        /// ProRes 422 HQ.
        case hq
        /// ProRes 4444, optionally with alpha.
        case proRes4444 = "4444"
        /// ProRes 4444 XQ, optionally with alpha.
        case proRes4444XQ = "4444xq"
    }

    /// The codec, encoded by the first suitable encoder of this build.
    public let codec: Codec
    /// The profile of ProRes; nil for other codecs.
    public let proResProfile: ProResProfile?
    /// Size of the coded frames in pixels, from 1 to 16384 each; for AV1 the encoder may require at least 64.
    public var size: PixelSize
    /// Expected frames per second (`AVVideoExpectedSourceFrameRateKey`), from 1/100 to 1000: a hint for rate control.
    /// Times of frames take precedence, with a precision of about 8 µs.
    public var frameRate: Rational
    /// Distribution of bits. Default: `standard`.
    public var rateControl: RateControl
    /// Ratio of speed to compression; ProRes has no choice. Default: `balanced`.
    public var speed = Speed.balanced
    /// Maximum number of frames between keyframes (`AVVideoMaxKeyFrameIntervalKey`), from 1 to 100000; nil for the
    /// encoder's default. ProRes consists of keyframes.
    public var keyframeInterval: Int?
    /// Bits per color component: 8, 10 or 12. Default: 8, for ProRes 10.
    public var bitDepth: Int
    /// Resolution of the color components. Default: 4:2:0, for ProRes that of the profile.
    public var chroma: Chroma
    /// Whether frames have an alpha channel. Default: false.
    public var hasAlpha = false
    /// Primaries, transfer, matrix and range. Default: not declared.
    public var color = ColorDescription()
    /// Pixel aspect ratio (`AVVideoPixelAspectRatioKey`); nil for square pixels.
    public var pixelAspectRatio: Rational?

    private init(
        _ codec: Codec, _ rateControl: RateControl, _ size: PixelSize, _ frameRate: Rational,
        proRes profile: ProResProfile? = nil
    ) {
        self.codec = codec
        self.rateControl = rateControl
        self.size = size
        self.frameRate = frameRate
        proResProfile = profile
        bitDepth = profile == nil ? 8 : 10
        chroma =
            switch profile {
            case nil: .yuv420
            case .proRes4444, .proRes4444XQ: .yuv444
            case .proxy, .lt, .standard, .hq: .yuv422
            }
    }
}

extension VideoSettings {
    /// Returns settings for H.264 with constant quality. `crf` is from 0 to 51; nil for 23.
    public static func h264(crf: Double? = nil, size: PixelSize, frameRate: Rational) -> VideoSettings {
        VideoSettings(.h264, crf.map { .crf($0) } ?? .standard, size, frameRate)
    }

    /// Returns settings for H.264 of an average bit rate in bits per second.
    public static func h264(
        bitRate: Int64, maximum: Int64? = nil, size: PixelSize, frameRate: Rational
    ) -> VideoSettings {
        VideoSettings(.h264, .bitRate(bitRate, maximum: maximum), size, frameRate)
    }

    /// Returns settings for HEVC with constant quality. `crf` is from 0 to 51; nil for 28.
    public static func hevc(crf: Double? = nil, size: PixelSize, frameRate: Rational) -> VideoSettings {
        VideoSettings(.hevc, crf.map { .crf($0) } ?? .standard, size, frameRate)
    }

    /// Returns settings for HEVC of an average bit rate in bits per second.
    public static func hevc(
        bitRate: Int64, maximum: Int64? = nil, size: PixelSize, frameRate: Rational
    ) -> VideoSettings {
        VideoSettings(.hevc, .bitRate(bitRate, maximum: maximum), size, frameRate)
    }

    /// Returns settings for VP9 with constant quality. `crf` is from 0 to 63; nil for 32.
    public static func vp9(crf: Double? = nil, size: PixelSize, frameRate: Rational) -> VideoSettings {
        VideoSettings(.vp9, crf.map { .crf($0) } ?? .standard, size, frameRate)
    }

    /// Returns settings for VP9 of an average bit rate in bits per second.
    public static func vp9(
        bitRate: Int64, maximum: Int64? = nil, size: PixelSize, frameRate: Rational
    ) -> VideoSettings {
        VideoSettings(.vp9, .bitRate(bitRate, maximum: maximum), size, frameRate)
    }

    /// Returns settings for AV1 of constant quality, a whole number from 0 to 63; nil for the encoder's default.
    public static func av1(crf: Double? = nil, size: PixelSize, frameRate: Rational) -> VideoSettings {
        VideoSettings(.av1, crf.map { .crf($0) } ?? .standard, size, frameRate)
    }

    /// Returns settings for AV1 of an average bit rate in bits per second.
    public static func av1(bitRate: Int64, size: PixelSize, frameRate: Rational) -> VideoSettings {
        VideoSettings(.av1, .bitRate(bitRate), size, frameRate)
    }

    /// Returns settings for ProRes, whose profile determines the bit rate.
    public static func proRes(
        _ profile: ProResProfile = .standard, size: PixelSize, frameRate: Rational
    ) -> VideoSettings {
        VideoSettings(.proRes, .standard, size, frameRate, proRes: profile)
    }
}
